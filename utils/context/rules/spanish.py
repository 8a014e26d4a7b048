"""Standing rules in Spanish. Pure."""

from __future__ import annotations

import re

from utils.context.rules.language import VALUE, LanguageRules, patterns

_OPENING = (
    r"^\W*(?:\d+[.)]\s*)?(?:(?:y|pero|también|además|por favor|porfa|importante|nota|atención|regla(?: \d+)?|ojo|hola|ok|vale|"
    r"bueno|otra cosa|una cosa más|por cierto|en general|como regla|gracias|ah|entonces)\b[\s:,;.!-]*)*"
)
_DO = (
    r"(?:responde|responda|usa|use|utiliza|utilice|contesta|conteste|escribe|escriba|incluye|incluya|muestra|muestre|pregunta|"
    r"pregunte|pon|ponga|da|dé|dame|avisa|avise|confirma|confirme|haz|haga|cita|cite|añade|añada|agrega|agregue|explica|"
    r"explique|revisa|revise|verifica|verifique|comprueba|compruebe|trabaja|trabaje|ordena|redondea|indica|indique|menciona|"
    r"mantén|mantenga|habla|hable|lee|lea|consulta|consulte|pide|pida|expresa|formatea|termina|empieza|despliega|redacta|llama)"
)
_FORMAL = (
    r"(?:toque|borre|reinicie|use|haga|elimine|cambie|despliegue|modifique|ejecute|envíe|responda|incluya|muestre|escriba|"
    r"fusione|suba|abra|cierre|comparta|publique|actualice|instale|mencione|utilice|apague|pare|mezcle|escale)n?"
)
_OWNED = (
    r"(?:cuenta|id|identificador|equipo|cl[uú]ster|repositorio|repo|namespace|proyecto|entorno|región|presupuesto|límite|rama|"
    r"horaria|correo|usuario|nombre|cliente|número|plazo|entrega|dominio|canal)"
)
_WE = (
    r"(?:desplegamos|usamos|utilizamos|publicamos|fusionamos|hacemos|trabajamos|subimos|reiniciamos|tocamos|borramos|"
    r"compartimos|guardamos|lanzamos|escribimos|modificamos)"
)

_STATES = (
    r"^^no (?:me |le |lo |la |los |las |te |se |nos )?(?!es\b|tienes|puedes|eres|sabes|quieres|vas\b|has\b|estás|crees|ves\b|"
    r"haces|debes|olvides(?! que)|dudes|seas|me digas|entiendes|te preocupes|te molestes)\w{2,}(?:es|as)\b",
    rf"^^no (?:me |lo |la |los |las )?{_FORMAL}\b",
    rf"^^(?:nunca|jamás) (?:me |lo |la |los |las )?(?:(?!has\b|es\b|veces)\w+(?:es|as)|{_FORMAL})\b",
    r"^^(?:nunca|jamás|no|siempre|solo|sólo|únicamente) (?!poder|hay|puede)\w+(?:ar|er|ir)(?:lo|la|los|las)?\b",
    r"\b(?:bajo ningún concepto|en ningún caso|bajo ninguna circunstancia|en ningún momento|pase lo que pase|de ninguna manera)\b",
    rf"^^siempre (?:que )?{_DO}\b|^^{_DO}\w*\b.*\b(?:siempre|únicamente|exclusivamente)\b",
    rf"^^(?:solo|sólo|únicamente) {_DO}\b(?<!muestra)(?<!dame)",
    r"\bno (?:debes|debe|deben|puedes|pueden)\b(?! (?:ser\b|hablar en serio|estar|conectar|acceder|abrir|haber))",
    r"\bno se (?:debe|deben|permite|permiten|toca|tocan|admite|admiten|despliega|puede (?:tocar|borrar|modificar|cambiar|"
    r"desplegar|reiniciar|fusionar|publicar))",
    r"\b(?:debes|tienes que|debe|deben|tienen que|hay que)\b.*\b(?:siempre|solo|sólo|únicamente)\b|\bsiempre (?:debes|tienes|debe|hay)",
    r"^^(?:debes|tienes que) (?:preguntar|pedir|responder|usar|avisar|consultar|esperar|confirmar|utilizar)",
    r"^^(?:solo|sólo|únicamente) (?:puedes|debes|se puede)\b",
    r"^^(?:todo|todos|toda|todas|cada)\b.*\b(?:debe|deben|tiene que|tienen que)\b",
    r"\b(?:está|están|queda|quedan) (?:\w+mente )?(?:prohibid\w+|vedad\w+)|\bes intocable|\bson intocables|\b(?:es|son) de solo "
    r"lectura|\bes confidencial|^^prohibido\b",
    r"\b(?:a partir de ahora|de ahora en adelante|desde ahora|en lo sucesivo|de aquí en adelante|en el futuro,|de hoy en adelante|"
    r"hasta (?:que (?:yo )?te diga|nuevo aviso)|sin excepción|a partir de hoy)\b",
    r"\b(?:durante|en) (?:toda )?(?:la|esta) (?:conversación|sesión|charla)\b|^^(?:cada vez que|siempre que)\b",
    r"\b(?:en )?(?:todas (?:tus|sus|las)|cada|tus) respuestas?\b(?! (?:fue|estaba|es incorrecta))",
    r"^(?!.*\b(?:alguien|se hizo|lo hizo|fue|ha)\b).*\bsin (?:mi|nuestr[oa]|previ[oa]|preguntar\w*|consultar\w*|avisar\w*|permiso|"
    r"autorización|pedir\w*|aprobación|confirmación)",
    r"\b(?:pregúnta\w*|consúlta\w*|avísa\w*|pídeme|pídame|confirma conmigo|espera)\b.*\b(?:antes|primero|cuando|si)\b",
    r"\bantes de\b.*\b(?:pregúnta|consúlta|avísa|pide|pídeme|confirma|espera)",
    r"^^(?:yo )?(?:prefiero|preferiría)\b(?! (?:el|la|los|las) (?:primer|segund|tercer|otr|últim))",
    r"^^quiero (?:que (?:siempre|nunca|todas?|todos?|tus|me respondas|uses|respondas|no|las)|siempre|solo respuestas|respuestas)",
    r"^^no quiero (?:que|ver|emojis|ningún|ninguna|respuestas|tablas)\b",
    r"^^me gustan? (?:que|las respuestas|respuestas|recibir)|^^me gustaría que (?:siempre|nunca|todas|tus|las)",
    r"^^(?:me llamo|mi nombre es|llámame|llámeme|tutéame|háblame de)\b",
    rf"\b(?:mi|nuestr[oa]) (?:[\w-]+ ){{0,3}}{_OWNED}(?: de \w+)? (?:es|son|está en)(?: el| la)? {VALUE}",
    rf"\b(?:mi|nuestr[oa]) (?:[\w-]+ ){{0,3}}{_OWNED}(?: de \w+)? (?:se llama|vence el|termina el)\b",
    r"^^(?:responde|contesta|escribe|habla|explica|redacta|responda|conteste|escriba|hable|respóndeme|contéstame|háblame)(?:me)?"
    r"(?: siempre| solo| sólo| todo)* (?:en|con)\b(?! (?:sí|un sí))",
    r"^^(?:sé|sea) (?:siempre )?(?:breve|concis|formal|directo)|^^(?:mantén|mantenga)\b.*\b(?:breve|cort|concis|respuestas|simple)",
    r"^^(?:usa|utiliza|use|utilice) (?:siempre |solo |sólo |el sistema|las unidades|unidades|el formato|formato|euros|utc|viñetas|"
    r"tablas|un tono|lenguaje|frases|listas|la hora|grados|el euro|markdown)",
    r"^^(?:da|dame|muestra|expresa|indica|pon|escribe)\b.*\b(?:fechas|horas|precios|importes|costes|costos|temperaturas|cantidades|"
    r"números)\b.*\b(?:en|con|como)\b",
    r"^^(?:recuerda que|ten (?:en cuenta|presente)|tenga en cuenta|no olvides que|acuérdate de que|recuerde que)\b",
    r"^^(?:evita|evite|deja de|deje de|mantente|limítate a|cíñete|abstente|trata .* como|considera .* como|asegúrate de (?:que )?"
    r"(?:no|nunca|siempre|nada|todo))\b|^^deja .* (?:en paz|como está|intact)",
    r"^^(?:nada de (?!nada|eso|esto)|ningún |ninguna |cero )\w+.*\b(?:sin|los|en|a|por favor|antes|después|el)\b",
    r"^^(?:nadie|nada) (?:debe|puede|se)\b",
    rf"^^(?:nosotros )?(?:nunca|no|solo|sólo|siempre) {_WE}\b|^^{_WE}\b.*\b(?:solo|sólo|únicamente|siempre|nunca)\b",
)
_UNLESS = (
    r"\b(?:esta vez|por ahora|de momento|por el momento|hoy(?! en adelante)(?<!de hoy)(?<!partir de hoy)|ahora mismo|todavía|aún|ayer)\b",
    r"\ben est[ae] (?:respuesta|lista|informe|consulta|caso)\b|\bpara est[ae] (?:respuesta|lista|pregunta|consulta)\b",
    r"\b(?:no te preocupes|no se preocupe|no pasa nada|no importa|no hay (?:problema|prisa|de qué)|no (?:lo )?dudes|no te molestes|"
    r"olvídalo|da igual|no puede ser|no me digas)\b",
    r"\b(?:dice que|dijo que|dijeron|el (?:log|error|mensaje|manual) dice|según|pone que)\b",
    r"^\W*(?:por qué|qué|cómo|cuándo|quién|dónde|muéstrame|lista\b|busca|encuentra|cuenta\b|enséñame)",
    r"\b(?:nunca|siempre|no) (?:he|ha|han|hemos|había|falla\w*|funciona\w*|termina|arranca|responde|carga|sale|llega|encuentro|veo|sé)\b",
)
_ASKS = (
    r"^¿?\W*(?:puedes|podrías|puede|podría)(?: por favor)? (?:siempre|no |dejar de|responder siempre)",
    r"\ba partir de ahora\b",
)
_FORGET = re.compile(
    r"^(?:(?:por favor|vale|ok|ahora|entonces)\b,? )*(?:olvida|ignora|anula|olvide|ignore) "
    r"(?P<whose>todas(?: mis| nuestras| las)?|mis|nuestras|la|las|esa|esta|mi) (?:(?:anterior|última|vieja|primera)(?:es|s)? )*"
    r"(?:regla|norma|restricción|prohibición)(?P<many>s|es)?(?: anterior(?:es)?)?(?: (?:sobre|de|del|para|contra|acerca de) (?P<what>.+))?$",
    re.IGNORECASE,
)
_ALLOW = re.compile(
    r"^(?:(?:vale|ok|ahora|ya)\b,? )*(?:puedes|puede) volver a (?P<what>.+)$|^(?:ya )?puedes (?P<again>.+) (?:de nuevo|otra vez)$",
    re.IGNORECASE,
)

SPANISH = LanguageRules(
    patterns(_OPENING, _STATES), patterns(_OPENING, _UNLESS), _FORGET, _ALLOW, patterns(_OPENING, _ASKS)
)
