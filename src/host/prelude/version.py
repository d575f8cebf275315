def parse(text):
    numbers = []
    for part in text.split('+')[0].split('.'):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)

Version = parse
