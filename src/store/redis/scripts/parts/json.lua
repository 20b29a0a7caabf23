-- Whether text is JSON, as src/base/json_scan.c decides: RFC 8259 in UTF-8, up to 128 levels, no half of a
-- surrogate pair. cjson is no judge: it takes 0x10, NaN and bad UTF-8.
--
-- Strings, numbers and words become one character each, by a few passes of the server's own string functions; what
-- is left, mostly brackets, is walked over once. So a long payload costs little more than its length.

local gsub, gmatch = string.gsub, string.gmatch

local DEPTH_MAX = 128
local SCALAR, STRING, WRONG = '\1', '\2', '\4'
local WORDS = {['true'] = SCALAR, ['false'] = SCALAR, ['null'] = SCALAR, ['0'] = SCALAR}

-- Text in which each character of more than one byte is one that is harmless in a string and wrong elsewhere; nil
-- when it is not UTF-8.
local function ascii_of(text)
    if match(text, '^[%z\1-\127]*()') > #text then
        return text
    end
    -- The first byte of each tells how it goes on, so the order does not matter.
    for _, character in ipairs({
        '[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
        '\237[\128-\159][\128-\191]', '\240[\144-\191][\128-\191][\128-\191]',
        '[\241-\243][\128-\191][\128-\191][\128-\191]', '\244[\128-\143][\128-\191][\128-\191]',
    }) do
        text = gsub(text, character, '\127')
    end
    return not find(text, '[\128-\255]') and text or nil
end

-- Escapes become a character that is harmless in a string and wrong elsewhere; what is no escape stays.
local function without_escapes(text)
    if not find(text, '\\', 1, true) then
        return text
    end
    text = gsub(text, '\\\\', '\127')
    text = gsub(text, '\\["/bfnrt]', '\127')
    if not find(text, '\\u', 1, true) then
        return text
    end
    text = gsub(text, '\\u[dD][89abAB]%x%x\\u[dD][c-fC-F]%x%x', '\127')
    text = gsub(text, '\\u[dD][89a-fA-F]', '\\')
    return (gsub(text, '\\u%x%x%x%x', '\127'))
end

local function word_of(word)
    if WORDS[word] then
        return WORDS[word]
    end
    local whole, rest = match(word, '^%-?(%d+)(.*)$')
    if not whole or find(whole, '^0%d') then
        return WRONG
    end
    rest = gsub(gsub(rest, '^%.%d+', ''), '^[eE][-+]?%d+', '')
    return rest == '' and SCALAR or WRONG
end

-- What may come next: any value; that or the end of an array; a name; that or the end of an object; a colon; what is
-- behind a value. NEXT has what each character makes of it, where no bracket is opened or closed.
local VALUE, FIRST, NAME, FIRST_NAME, COLON, BEHIND = 1, 2, 3, 4, 5, 6
local NEXT = {
    [SCALAR] = {[VALUE] = BEHIND, [FIRST] = BEHIND},
    [STRING] = {[VALUE] = BEHIND, [FIRST] = BEHIND, [NAME] = COLON, [FIRST_NAME] = COLON},
    [':'] = {[COLON] = VALUE},
}
local CLOSING = {['['] = ']', ['{'] = '}'}

local function is_one_value(text)
    local open, depth, want = {}, 0, VALUE
    for token in gmatch(text, '.') do
        local closing = CLOSING[token]
        if closing then
            if want > FIRST or depth == DEPTH_MAX then
                return false
            end
            depth = depth + 1
            open[depth] = closing
            want = closing == ']' and FIRST or FIRST_NAME
        elseif token == ',' then
            if want ~= BEHIND or depth == 0 then
                return false
            end
            want = open[depth] == ']' and VALUE or NAME
        elseif token == open[depth] then
            if want ~= BEHIND and want ~= FIRST and want ~= FIRST_NAME then
                return false
            end
            depth = depth - 1
            want = BEHIND
        else
            want = NEXT[token] and NEXT[token][want]
            if not want then
                return false
            end
        end
    end
    return want == BEHIND and depth == 0
end

-- A list that starts an array, as one value.
local function short_list(list)
    return find(list, ',,', 1, true) and WRONG or find(list, '[\1\2][\1\2]') and WRONG or '[\1'
end

local function is_json(text)
    if match(text, '^[\32-\127\9\10\13]*()') <= #text then
        text = not find(text, '[%z\1-\8\11\12\14-\31]') and ascii_of(text)
        if not text then
            return false
        end
    end
    text = gsub(without_escapes(text), '"[^"\\\9\10\13]*"', STRING)
    text = gsub(text, '%f[-+.%w][1-9]%d*%f[^-+.%w]', SCALAR)
    text = gsub(gsub(text, '[-+.%w]+', word_of), '[ \t\n\r]+', '')
    text = gsub(text, '%[[\1\2][\1\2,]*[\1\2]', short_list)
    return is_one_value(text)
end
