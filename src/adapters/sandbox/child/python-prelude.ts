// What rewritten Python programs call, in the Python that the interpreter knows. It stands ahead of a program that calls it, and its lines are taken off those of
// failures. `__clock` is the wall clock in ISO 8601, UTC without a zone.

/** The prelude's text; it ends with a line break. */
export const PYTHON_PRELUDE = `from datetime import datetime as __datetime, date as __date, timedelta as __timedelta, timezone as __timezone
def __spec(value, spec):
    spec = str(spec)
    if "#" in spec:
        kind = spec[-1]
        return ("0" + kind if kind in "xXob" else "") + f"{value:{spec.replace('#', '')}}"
    if "," not in spec and "_" not in spec:
        return f"{value:{spec}}"
    mark = "," if "," in spec else "_"
    plain = f"{value:{spec.replace(mark, '').lstrip('0123456789<>^')}}"
    sign = ""
    if plain[:1] in "+-":
        sign = plain[0]
        plain = plain[1:]
    point = plain.find(".")
    whole = plain if point < 0 else plain[:point]
    tail = "" if point < 0 else plain[point:]
    parts = []
    while len(whole) > 3:
        parts.append(whole[-3:])
        whole = whole[:-3]
    parts.append(whole)
    parts.reverse()
    text = sign + mark.join(parts) + tail
    head = spec[:spec.find(mark)]
    return f"{text:{head if head[:1] in '<>^' or head == '' else '>' + head}}"
def format(value, spec=""):
    return __spec(value, spec)
def __field(name, used, args, kwargs):
    cut = len(name)
    for mark in ".[":
        at = name.find(mark)
        if at >= 0 and at < cut:
            cut = at
    first = name[:cut]
    rest = name[cut:]
    if first == "":
        value = args[used[0]]
        used[0] += 1
    elif first.isdigit():
        value = args[int(first)]
    else:
        value = kwargs[first]
    while rest:
        if rest[0] == "[":
            end = rest.find("]")
            key = rest[1:end]
            value = value[int(key) if key.isdigit() else key]
            rest = rest[end + 1:]
        else:
            end = 1
            while end < len(rest) and rest[end] not in ".[":
                end += 1
            value = getattr(value, rest[1:end])
            rest = rest[end:]
    return value
def __braces(template, used, args, kwargs):
    out = []
    at = 0
    while at < len(template):
        c = template[at]
        if c == "{" and template[at:at + 2] == "{{" or c == "}" and template[at:at + 2] == "}}":
            out.append(c)
            at += 2
        elif c == "{":
            end = at + 1
            level = 1
            while level:
                if end >= len(template):
                    raise ValueError("expected '}' before end of string")
                level += {"{": 1, "}": -1}.get(template[end], 0)
                end += 1
            field = template[at + 1:end - 1]
            colon = field.find(":")
            name = field if colon < 0 else field[:colon]
            spec = "" if colon < 0 else field[colon + 1:]
            mark = name.find("!")
            how = "" if mark < 0 else name[mark + 1:]
            value = __field(name if mark < 0 else name[:mark], used, args, kwargs)
            if how == "r" or how == "a":
                value = repr(value)
            elif how == "s":
                value = str(value)
            if "{" in spec:
                spec = __braces(spec, used, args, kwargs)
            out.append(str(value) if spec == "" else __spec(value, spec))
            at = end
        elif c == "}":
            raise ValueError("Single '}' encountered in format string")
        else:
            end = at
            while end < len(template) and template[end] not in "{}":
                end += 1
            out.append(template[at:end])
            at = end
    return "".join(out)
def __format(__template, *args, **kwargs):
    if __template is str:
        return __braces(args[0], [0], args[1:], kwargs)
    return __braces(__template, [0], args, kwargs)
def __format_map(template, values):
    return __braces(template, [0], (), values)
def __percent(left, right):
    if not isinstance(left, str):
        return left % right
    values = list(right) if isinstance(right, tuple) else [right]
    out = []
    at = 0
    while at < len(left):
        if left[at] != "%":
            end = left.find("%", at)
            end = len(left) if end < 0 else end
            out.append(left[at:end])
            at = end
            continue
        at += 1
        value = None
        named = False
        if left[at:at + 1] == "(":
            end = left.find(")", at)
            value = right[left[at + 1:end]]
            named = True
            at = end + 1
        flags = ""
        while left[at:at + 1] != "" and left[at] in "-+ 0#":
            flags += left[at]
            at += 1
        width = ""
        while left[at:at + 1] != "" and left[at] in "0123456789*":
            width += str(values.pop(0)) if left[at] == "*" else left[at]
            at += 1
        precision = ""
        if left[at:at + 1] == ".":
            at += 1
            while left[at:at + 1] != "" and left[at] in "0123456789*":
                precision += str(values.pop(0)) if left[at] == "*" else left[at]
                at += 1
            precision = precision or "0"
        kind = left[at:at + 1]
        at += 1
        if kind == "%":
            out.append("%")
            continue
        if kind == "":
            raise ValueError("incomplete format")
        if not named:
            if not values:
                raise TypeError("not enough arguments for format string")
            value = values.pop(0)
        if kind in "sra":
            text = str(value) if kind == "s" else repr(value)
            text = text[:int(precision)] if precision else text
        elif kind in "diu":
            if isinstance(value, str):
                raise TypeError("%d format: a real number is required, not str")
            text = f"{int(value):{'+' if '+' in flags else ''}d}"
        elif kind in "xXo":
            text = f"{int(value):{kind}}"
        elif kind in "eEfFgG":
            text = f"{float(value):{'+' if '+' in flags else ''}.{precision or '6'}{kind}}"
        elif kind == "c":
            text = value if isinstance(value, str) else chr(value)
        else:
            raise ValueError("unsupported format character '" + kind + "'")
        if " " in flags and kind in "diueEfFgG" and text[0] not in "+-":
            text = " " + text
        if width:
            if "-" in flags:
                text = text.ljust(int(width))
            elif "0" in flags and kind not in "srac":
                text = text.zfill(int(width))
            else:
                text = text.rjust(int(width))
        out.append(text)
    if isinstance(right, tuple) and values:
        raise TypeError("not all arguments converted during string formatting")
    return "".join(out)
def __in(at, tz):
    if tz is None:
        return at
    there = at.replace(tzinfo=tz)
    text = there.isoformat()
    if text[-6] not in "+-":
        return there
    minutes = int(text[-5:-3]) * 60 + int(text[-2:])
    return there + __timedelta(minutes=minutes if text[-6] == "+" else -minutes)
def __astimezone(at, tz=None):
    text = at.isoformat()
    zoned = at.replace(tzinfo=None)
    if len(text) > 19 and text[-6] in "+-":
        minutes = int(text[-5:-3]) * 60 + int(text[-2:])
        zoned = zoned - __timedelta(minutes=minutes if text[-6] == "+" else -minutes)
    return __in(zoned, __timezone.utc if tz is None else tz)
def __now(kind, tz=None):
    return __in(__datetime.fromisoformat(__clock), tz)
def __utcnow(kind):
    return __datetime.fromisoformat(__clock)
def __today(kind):
    now = __datetime.fromisoformat(__clock)
    return now.date() if kind is __date else now
def __fromtimestamp(kind, seconds, tz=None):
    whole = int(seconds // 1)
    at = __datetime.fromisoformat("1970-01-01T00:00:00") + __timedelta(seconds=whole, microseconds=int((seconds - whole) * 1000000))
    return at.date() if kind is __date else __in(at, tz)
`;
