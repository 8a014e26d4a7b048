"""Standing rules in French. Pure."""

from __future__ import annotations

import re

from utils.context.rules.language import VALUE, LanguageRules, patterns

_OPENING = (
    r"^\W*(?:\d+[.)]\s*)?(?:(?:et|mais|aussi|également|s'il (?:te|vous) pla[iî]t|stp|svp|merci de|important|note|attention|"
    r"règle(?: \d+)?|ps|bonjour|salut|ok|d'accord|bon|alors|autre chose|au fait|en général|de manière générale|en règle "
    r"générale|de plus|ah|surtout|merci)\b[\s:,;.!-]*)*"
)
_DO = (
    r"(?:réponds|répondez|écris|écrivez|utilisez?|parlez?|donnez?|mets|mettez|affichez?|indiquez?|citez?|demandez?|ajoutez?|inclus|"
    r"incluez|expliquez?|vérifiez?|confirmez?|travaillez?|gardez?|restez?|emploie|employez|préviens|prévenez|fais|faites|"
    r"proposez?|arrondis|triez?|terminez?|commencez?|rédigez?|exprimez?|formatez?|joins|joignez|passez?|déploie|déployez|consultez?)"
)
_OWNED = (
    r"(?:compte|identifiant|id|équipe|cluster|dépôt|repo|namespace|projet|environnement|région|budget|échéance|branche|horaire|"
    r"e-?mail|adresse|nom|prénom|numéro|client|domaine|canal|date limite)"
)

_STATES = (
    r"^^(?:ne |n['’])(?!t['’]|vous inquiétez|hésit|oublie[sz]? (?!pas (?:que|qu))|bouge|quitte|te (?:fais|prends|gêne|dérange|fatigue)|"
    r"quittez|bougez)(?:\w+[ '’-])*?(?:pas|jamais|plus|rien|que|aucune?)\b",
    r"^^ne (?:pas|jamais|plus|rien) (?:\w+['’])?\w+(?:er|ir|re|oir)\b",
    r"^^(?:jamais|uniquement|toujours) (?:de |d['’]|sans |en |sur |avec |des |\w+(?:er|ir|re)\b)",
    r"^^(?:aucune?|pas de|pas d['’]|plus de|zéro) (?!souci|problème|panique|nouvelle|chance|réponse|quoi|stress|idée|erreur|résultat|"
    r"raison)[\w'’-]+.*\b(?:sans|le|la|en|dans|sur|avant|après|s'il|svp|stp|les|vers|pendant)\b",
    rf"^^{_DO}(?:-\w+)?\b.*\b(?:toujours|jamais|uniquement|exclusivement|systématiquement|seulement en)\b",
    r"\b(?:tu|vous) ne (?:dois|devez|peux|pouvez|devrais|devriez)(?! (?:pas|jamais) être (?:sérieu|là))",
    r"\b(?!je\b|j['’]|ça\b|il\b|elle\b|on\b)\w+ ne (?:doit|doivent) (?:surtout |en aucun cas )?(?:pas|jamais|plus|être|rien|contenir)",
    r"\b(?:personne|rien) ne (?:doit|peut|part|va|sort|touche)\b|\baucune? .* ne (?:doit|peut|sera|part|va)\b",
    r"\bil ne faut (?:surtout )?(?:pas|jamais|rien)|\bil faut (?:toujours|que tu|que vous|impérativement)",
    r"\b(?:tu dois|vous devez) (?:toujours|me |impérativement|obligatoirement|uniquement|d['’]abord|demander|attendre|utiliser|répondre)",
    r"\b(?:doit|doivent) (?:toujours|impérativement|obligatoirement|être (?:approuv|valid|en |relu|écrit|sign)|rester|passer par|contenir|inclure)",
    r"\b(?:est|sont|reste|restent) (?:\w+ment )?(?:interdit|proscrit|défendu|intouchable|en lecture seule|obligatoire|hors limites|"
    r"confidentiel)|\binterdiction (?:de|d['’]|absolue)|^^(?:défense|interdit) de",
    r"\b(?:en aucun cas|sous aucun prétexte|à aucun moment|quoi qu['’]il arrive|jamais au grand jamais)\b",
    r"\b(?:à partir de maintenant|désormais|dorénavant|à l['’]avenir|dès maintenant|dès à présent|à compter d|pour (?:le reste|toute la "
    r"suite)|jusqu['’]à (?:nouvel ordre|ce que je)|sans exception|à partir d['’]aujourd)",
    r"\b(?:pendant|durant|dans) (?:toute )?cette (?:conversation|session|discussion)|^^(?:chaque fois que|à chaque fois que|toutes les fois)",
    r"\b(?:dans )?(?:(?:toutes )?(?:tes|vos)|chaque|toutes les) réponses?\b(?! (?:était|étaient|est fausse))",
    r"^(?!.*\b(?:quelqu|a été|a fait|il a|on a)\b).*\bsans (?:mon|ma\b|notre|me\b|m['’]|nous|demander|autorisation|validation|accord|prévenir|"
    r"permission|confirmation)",
    r"\b(?:demande|préviens|avertis|consulte|interroge|demandez|prévenez|avertissez|consultez)(?:-\w+){0,3}\b.*\b(?:avant|d['’]abord|chaque fois)\b",
    r"\bavant (?:de|d['’]|chaque|tou\w+)\b.*\b(?:demande|préviens|consulte|attends|confirme|avertis|prévenez|demandez|attendez)",
    r"^^(?:moi,? )?je (?:préfère|préférerais)\b(?! (?:le|la|les) (?:premi|deuxi|second|dernièr|trois|autre))",
    r"^^je (?:veux|souhaite|voudrais) (?:toujours|uniquement|que (?:tu|vous|toutes|tous|chaque|les réponses|tes)|des réponses|tes réponses)",
    r"^^je ne (?:veux|souhaite) (?:pas|plus|jamais|aucun) (?!attendre|savoir|dire|te\b|vous\b)|^^je n['’]aime pas (?:les|quand|que)\b|"
    r"^^j['’]aime (?:les réponses|quand|que)",
    r"^^(?:je m['’]appelle|mon nom est|appelle[sz]?-moi|tutoie|vouvoie|tutoyez|vouvoyez)",
    rf"\b(?:mon|ma|notre) (?:[\w'’-]+ ){{0,3}}{_OWNED}(?: de \w+)?(?: [\w-]+)? est(?: le| la| l['’])? {VALUE}",
    rf"\b(?:mon|ma|notre) (?:[\w'’-]+ ){{0,3}}{_OWNED}(?: de \w+)? s['’]appelle\b",
    r"^^(?:réponds|répondez|écris|écrivez|parle|parlez|explique|expliquez|rédige|rédigez)(?:-moi|-nous)?(?: toujours| uniquement| "
    r"seulement| tout)* (?:en|avec|brièvement|de façon|de manière)\b(?! (?:un )?oui)",
    r"^^(?:sois|soyez|reste|restez) (?:toujours )?(?:bref|brève|concis|poli|formel|court|factuel)|^^(?:garde|gardez|fais|faites) (?:des |tes "
    r"|vos )?(?:réponses|phrases) (?:courtes|brèves)",
    r"^^utilisez? (?:toujours|uniquement|seulement|le système|les unités|des unités|le format|un format|l['’]heure|utc|des puces|des "
    r"listes|des tableaux|un ton|un langage|le vouvoiement|le tutoiement|l['’]euro|le fuseau|les degrés)",
    r"^^(?:donne|affiche|indique|exprime|mets|écris)z?\b.*\b(?:dates|heures|prix|montants|coûts|températures|durées|tailles)\b.*\b(?:en|au|avec)\b",
    r"^^(?:rappelle-toi|rappelez-vous|souviens-toi|souvenez-vous|n['’]oublie pas|n['’]oubliez pas|notez?|garde[z]? (?:en tête|à l['’]esprit)|"
    r"retiens|retenez|sachez?) (?:bien )?qu",
    r"^^(?:évitez?|abstiens-toi|abstenez-vous|arrêtez? (?:de|d['’])|cesse[z]? de|tiens-t['’]en|limite-toi|contente-toi|laissez? .*(?:tranquille|"
    r"intact|en l['’]état|tel)|traitez? .* comme|considère .* comme|assure-toi (?:de ne|que|de toujours)|veille[z]? à (?:ne|toujours|ce))",
    r"^^(?:nous|on) (?:ne |n['’])?(?:déplo|utilis|fusionn|publi|pouss|livr|touch|redémarr|stock|partag|travaill|modifi|supprim|fai|met)\w+ "
    r"(?:\w+ )?(?:jamais|pas|que|plus|rien|uniquement|toujours|seulement|exclusivement)",
)
_UNLESS = (
    r"\b(?:cette fois|pour l['’]instant|pour le moment|tout de suite|pas encore|en ce moment|hier)\b|(?<!partir d['’])\baujourd['’]hui",
    r"\b(?:pour|dans) cette (?:réponse|liste|question|requête)\b|\bdans ce (?:rapport|cas)\b",
    r"\b(?:ne t['’]inquiète|ne vous inquiétez|t['’]inquiète|pas de (?:souci|problème|panique|quoi)|laisse tomber|peu importe|n['’]hésite|"
    r"oublie ça|ne t['’]en fais|ce n['’]est (?:pas|rien)|c['’]est pas)",
    r"\b(?:dit que|disait|a dit|selon|d['’]après|le (?:log|message|journal) (?:dit|indique))\b",
    r"^\W*(?:pourquoi|comment|quand|qui|où|quel\w*|qu['’]est|montre|liste\b|listez|cherche|trouve|compte\b|est-ce)",
    r"\b(?:marche|fonctionne|démarre|plante|échoue|répond|termine|charge|arrive|comprends|sais|vois|trouve) (?:toujours|jamais|pas|plus)\b",
    r"\btoujours (?:pas|le même|la même|en panne|en cours|en échec)\b",
)
_ASKS = (
    r"^^(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous)\b.*\b(?:toujours|désormais|ne pas|ne plus|arrêter de|systématiquement)\b",
    r"\b(?:désormais|à partir de maintenant)\b",
)
_FORGET = re.compile(
    r"^(?:(?:s['’]il te plaît|svp|stp|ok|d['’]accord|maintenant)\b,? )*(?:oublie|ignore|lève)z? "
    r"(?P<whose>toutes(?: mes| nos| les)?|mes|nos|la|les|cette|ma) (?:(?:ancienne|dernière|première|précédente)s? )*"
    r"(?:règle|consigne|contrainte|restriction|interdiction)(?P<many>s)?(?: précédentes?)?"
    r"(?: (?:sur|de|du|pour|contre|concernant|à propos de) (?P<what>.+))?$",
    re.IGNORECASE,
)
_ALLOW = re.compile(
    r"^(?:(?:ok|d['’]accord|maintenant)\b,? )*(?:tu peux|vous pouvez) (?:de nouveau|à nouveau) (?P<what>.+)$|"
    r"^(?:tu peux|vous pouvez) (?P<again>.+) (?:de nouveau|à nouveau)$",
    re.IGNORECASE,
)

FRENCH = LanguageRules(
    patterns(_OPENING, _STATES), patterns(_OPENING, _UNLESS), _FORGET, _ALLOW, patterns(_OPENING, _ASKS)
)
