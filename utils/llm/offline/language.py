"""Whether a request is in a language other than English, which this model cannot read."""

from __future__ import annotations

import re
import unicodedata

from utils.llm.offline.grammar import word_set

_COMMON = word_set("""wie was wo wer wann warum welche welcher welches ich wir ist sind und oder nicht kann können mein meine einen eine den dem der das mit für auf zeige zeig bitte
    cómo como qué cuál cuáles dónde cuándo por puedo los las del una uno para mi con muéstrame muestra lista abiertos
    comment quel quelle quels quelles où quand pourquoi je nous est sont les des une le la du mon ma avec pour montre affiche peux puis
    come cosa quale dove quando perché posso gli che sono il lo della per mostra
    como qual onde porque posso os um uma não são hoe wat waar wanneer ik kan het een niet voor met toon
    quais foram últimos última último em nos nas meu minha posso cambiare cambiar questo questa les ouverts ouvertes leurs aux letzten bitte offene offenen zeig von
    hur vad var när jag kan inte och ett jak co gdzie kiedy mogę nie""")
_ENGLISH = word_set(
    """the is are what how do does can i you it of in on to for my and or a an which where when who why show list me"""
)
_FEWEST = 2
_NAMES = re.compile(r"[\w.-]+/[\w./-]+")


def is_foreign(text: str) -> bool:
    """By its letters, or by its common words where they are no English ones."""
    text = _NAMES.sub(" ", text)
    letters = [char for char in text if char.isalpha()]
    latin = sum(unicodedata.name(char, "").startswith("LATIN") for char in letters)
    if (letters and latin * 2 < len(letters)) or text.lstrip().startswith(("¿", "¡")):
        return True
    found = re.findall(r"[^\W\d_]+", text.lower())
    foreign = sum(word in _COMMON - _ENGLISH for word in found)
    return foreign >= _FEWEST and foreign > sum(word in _ENGLISH for word in found)
