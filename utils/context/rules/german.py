"""Standing rules in German. Pure."""

from __future__ import annotations

import re

from utils.context.rules.language import VALUE, LanguageRules, patterns

_OPENING = (
    r"^\W*(?:\d+[.)]\s*)?(?:(?:und|aber|auch|bitte|also|wichtig|achtung|hinweis|regel(?: \d+)?|übrigens|ps|merke|außerdem|"
    r"hallo|hi|ok|okay|noch etwas|noch was|ach ja|grundsätzlich|generell|prinzipiell|danke|so|dann)\b[\s:,;.!-]*)*"
)
_DO = (
    r"(?:lösche?|fasse?|ändere?|starte|deploye?|merge|pushe?|nutze?|benutze?|verwende|nimm|antworte|schreibe?|gib|zeige?|"
    r"mache?|halte?|bleibe?|lasse?|frage?|sprich|rede|erkläre?|führe?|öffne|schließe?|erstelle?|lege?|behandle|betrachte|"
    r"berühre?|rühre?|installiere|entferne|arbeite|sende|schicke?|veröffentliche|speichere?|verrate|teile?|nenne|zitiere|"
    r"liste|rufe?|warte|hole?|informiere|stoppe?|beende|greife?|lies|kopiere|committe|rolle?|skaliere|füge?|formuliere|"
    r"verschiebe?|überschreibe?|berichte|warne?|bestätige|runde|rechne|trenne|sortiere|logge|patche|aktualisiere|verändere|"
    r"melde|gehe?|packe?|stelle?|setze?|prüfe|kürze|übersetze|wende|gebe?|duze?|sieze?|akzeptiere|schalte|fahre?)(?:n sie)?"
)
_SUBJECTS = (
    r"\b(?:ich|wir|er|es|man|hat|haben|habe|ist|sind|war|waren|wurde|wurden|werden|wird|kann|können|konnte|will|wollen|"
    r"warum|wieso|weshalb|wie|was|welche\w*|wer|wann|mich)\b"
)
_OWNED = (
    r"(?:[\w-]*konto|[\w-]*account|[\w-]*nummer|id|team|cluster|repo\w*|namespace|projekt\w*|umgebung|region|mandant|budget|"
    r"frist|[\w-]*branch|zeitzone|e-?mail\w*|[\w-]*name|deadline|[\w-]*kennung|kanal|adresse|domain)"
)

_STATES = (
    rf"^^{_DO}\b.*\b(?:nie|niemals|immer(?! noch)|stets|nur noch|ausschließlich|grundsätzlich|jedes mal|nie wieder)\b",
    rf"^^{_DO}\b.*\b(?:nicht|kein(?:e|en|em|er)?|nichts)\b",
    r"^^(?:nie|niemals|immer(?! noch)|stets|ausschließlich|nur)\b .*(?:en|ern|eln)\W*$",
    r"^^(?:kein(?:e|en)?|nichts) (?!ahnung|problem|sorge|eile|antwort|stress|fehler|ergebnis|zeit|lust|idee|thema|wunder|"
    r"treffer|änderung(?:en)? seit)(?:.*(?:en|ern|eln)\W*$|.*\b(?:ohne|am|nach|vor|auf|im|in|bitte|mehr|an)\b)",
    rf"^(?!.*{_SUBJECTS}).*\b(?:nicht|niemals|nie|keinesfalls|immer(?! noch))\b.*\w(?:en|ern|eln)(?: bitte)?\W*$",
    r"\b(?:auf keinen fall|unter keinen umständen|keinesfalls|in keinem fall|unter gar keinen|zu keiner zeit)\b",
    r"\b(?:du|sie|ihr|wir) (?:darfst|dürfen|dürft|sollst|sollen|sollt|musst|müssen|müsst)\b.*\b(?:nicht|nie|niemals|kein\w*|"
    r"nur|immer(?! noch)|stets|erst|vorher|nichts)\b",
    r"\b(?:darfst|sollst|musst) du\b.*\b(?:nicht|nie|niemals|kein\w*|nur|immer(?! noch)|stets|erst|vorher)\b",
    r"^(?!.*\bich\b).*\b(?:darf|dürfen|soll|sollen|muss|müssen)\b.*\b(?:nicht|nie|niemals|kein\w*|nur|immer(?! noch)|stets)\b",
    r"\b(?:niemand|keiner) (?:darf|soll)\b",
    r"\b(?:ist|sind|bleibt|bleiben) (?:\w+ )?(?:tabu|verboten|untersagt|nicht erlaubt|nicht gestattet|schreibgeschützt|pflicht|"
    r"vertraulich|unantastbar|nur lesbar)\b",
    r"\b(?:ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun|heute) an|künftig|in zukunft|zukünftig|für den rest|bis auf weiteres|"
    r"bis ich (?:etwas|was) anderes|standardmäßig|ohne ausnahme|ausnahmslos|jedes mal,? wenn du|immer wenn du|wann immer du)\b",
    r"\b(?:in (?:allen|jeder)|bei (?:allen|jeder)|alle|jede) (?:deine[nr]? |ihre[nr]? |meine[nr]? )?antwort(?:en)?\b",
    r"\bin (?:diesem|unserem) (?:gespräch|chat|dialog)\b",
    r"^(?!.*\b(?:hat|haben|wurde|jemand|war)\b).*\bohne (?:meine?|unsere?|vorherige|ausdrückliche|rückfrage|rücksprache|mich zu|"
    r"absprache|freigabe|zustimmung|erlaubnis|vorher)",
    r"\b(?:frage?|fragen sie|sprich|informiere|warne?|hole?|warte|melde?|kläre?)\b.*\b(?:bevor|vorher|zuerst|erst|vor (?:jede[mr]|dem|der))\b",
    r"\bbevor du\b.*\b(?:frage?|hole?|warte|bestätige|sag)\b",
    r"\bich (?:bevorzuge|wünsche mir|mag (?:kurze|keine|lieber|es,? wenn)|habe? lieber)",
    r"\bich (?:möchte|will),? (?:dass (?:du|sie|alle)|immer|nie|keine|alle (?:antworten|zeiten|daten|preise|beträge|angaben)|"
    r"deine|kurze|antworten|nur (?:kurze|antworten|noch))",
    r"\bich hätte (?:gerne?|lieber) (?:alle|immer|deine|kurze|antworten|keine)",
    r"\b(?:mein name ist|ich hei(?:ß|ss)e|nenne?(?:n sie)? mich|duze? mich|sieze? mich|sprich mich)\b",
    rf"\b(?:mein|meine|unser|unsere) (?:[\w-]+ ){{0,2}}{_OWNED} (?:ist|sind|=)(?: der| die| das| in)? {VALUE}",
    rf"\b(?:mein|meine|unser|unsere) (?:[\w-]+ ){{0,2}}{_OWNED} (?:heißt|lautet|endet am)\b",
    r"^^(?:antworte|schreibe?|sprich|rede|erkläre?|formuliere)(?:n sie)?(?: mir| bitte| alles| mit mir)*(?: nur| immer| stets| bitte)* "
    r"(?:auf|in|mit) (?:\w+isch\b|deutsch|stichpunkten|kurzen|einfach\w*|tabellen\w*|maximal|höchstens|ganzen|\w+ sätzen)",
    r"^^(?:halte?|fasse?)(?:n sie)? (?:dich|sich|deine antworten|die antworten|alle antworten)\b.*\b(?:kurz|knapp)",
    r"^^(?:verwende|nutze?|benutze?)(?:n sie)? (?:[\w-]+ )*(?:einheiten|zeitzone|utc|\w*format|euro|sie-form|du-form|emojis|"
    r"stichpunkte|markdown|tabellen|sprache|anrede|dezimal\w+|celsius)\b",
    r"^^(?:verwende|nutze?|benutze?|nimm|arbeite|deploye?|lies)(?:n sie)?\b.*\b(?:nur|für alle|in allen|statt|anstelle|anstatt)\b",
    r"^^gib\b.*\b(?:zeiten|uhrzeiten|daten|preise|beträge|kosten|temperaturen|zahlen|datumsangaben)\b.*\b(?:in|als|im)\b",
    r"\b(?:denke?(?:n sie)? (?:bitte )?(?:immer )?daran|merke?(?:n sie)? (?:dir|ihnen|sich)|beachte(?:n sie)?,? dass|vergiss nicht,? dass|"
    r"behalte .* im (?:kopf|hinterkopf|auge))\b",
    r"\b(?:finger|hände) weg\b|^^lasse?\b.*\b(?:in ruhe|unangetastet|unverändert|so,? wie)\b",
    r"^^(?:bleibe? (?:weg|bei|auf)|halte? dich (?:an|von|fern|aus)|behandle|verzichte|vermeide|achte(?: \w+)* darauf|"
    r"stelle? sicher,? dass|sorge dafür,? dass|unterlasse?|beschränke dich)",
    r"^^wir (?:deployen|mergen|pushen|releasen|nutzen|verwenden|benutzen|veröffentlichen|arbeiten|liefern|speichern|teilen|"
    r"committen|ändern|rollen|schreiben|löschen|starten|duzen|siezen)\b.*\b(?:nie|niemals|nur|immer(?! noch)|kein\w*|"
    r"ausschließlich|grundsätzlich|nicht|stets)\b",
)
_UNLESS = (
    r"\b(?:dieses mal|diesmal|fürs erste|vorerst|momentan|im moment|noch nicht|nur kurz|gestern|(?<!ab )(?<!von )heute)\b",
    r"\b(?:für|bei|in) diese[rn]? (?:antwort|liste|frage|anfrage|abfrage|bericht|fall)\b",
    r"\b(?:mach dir keine|machen sie sich keine|keine sorge|kein problem|keine ahnung|vergiss es|schon gut|macht nichts|nicht schlimm|nicht nötig|"
    r"immer gerne?|nicht so wichtig|lass dich nicht|gib nicht auf|nicht wahr|stell dir)\b",
    r"\b(?:sagt|sagte|steht|laut|meint|meinte|hieß|behauptet|fehlermeldung|log|doku\w*)\b(?!.*\bab jetzt\b)",
    r"^\W*(?:warum|wieso|was|wie|wann|wer|wo|welche\w*|zeig(?:e)? mir|liste|suche?|finde?|zähle?|ist|sind|hat)\b"
    r"(?!.*\b(?:immer(?! noch)|nie|niemals|stets)\b)",
    r"\b(?:startet|läuft|funktioniert|geht|klappt|kommt|bricht|schlägt|scheint|dauert|antwortet|hängt)\b.*\b(?:nicht|nie|immer|kein\w*)\b",
)
_ASKS = (
    r"^^(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie) (?:bitte )?(?:immer|nie|niemals|ab jetzt|künftig|in zukunft|nur noch)\b",
    r"\bab (?:jetzt|sofort)\b",
)
_FORGET = re.compile(
    r"^(?:(?:bitte|ok|okay|jetzt|also|nun)\b,? )*(?:vergiss|ignoriere?|streiche?|hebe?) (?:bitte )?"
    r"(?P<whose>alle(?: meine| unsere)?|meine|unsere|die|diese) (?:(?:frühere|vorherige|alte|letzte|obige)n? )*"
    r"(?:regel|vorgabe|einschränkung|beschränkung)(?P<many>e?n)?"
    r"(?: (?:zu|zur|zum|über|für|gegen|mit|wegen|bezüglich) (?P<what>.+?))?(?: auf)?$",
    re.IGNORECASE,
)
_ALLOW = re.compile(
    r"^(?:(?:bitte|ok|okay|jetzt|also|nun|ab jetzt)\b,? )*(?:du darfst|sie dürfen|darfst du|dürfen sie) (?P<what>.+ wieder\b.*)$",
    re.IGNORECASE,
)

GERMAN = LanguageRules(
    patterns(_OPENING, _STATES), patterns(_OPENING, _UNLESS), _FORGET, _ALLOW, patterns(_OPENING, _ASKS)
)
