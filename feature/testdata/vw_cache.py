# SPDX-License-Identifier: Apache-2.0
"""What the real vw makes of a file: its own cache of it, decoded.

Used by the scripts that record examples. An example a line:

    label weight initial tag newline | namespace index:value ... | ...

floats as the hexadecimal of their bits, tag and namespace in hexadecimal.
"""
import os, struct, subprocess, sys, tempfile


def decode(cache):
    at = 0

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, cache, at)[0]
        at += struct.calcsize("<" + form)
        return value

    at = 8 + take("Q")
    assert take("c") == b"c"
    mask = (1 << take("I")) - 1
    while at < len(cache):
        take("Q")
        head = [take("I") for _ in range(3)]
        size = take("Q")
        tag, at = cache[at : at + size], at + size
        newline = take("c").decode()
        out = ["%08x %08x %08x %s %s" % (*head, tag.hex() or "-", newline)]
        for _ in range(take("B")):
            ns, end = take("B"), take("Q") + at
            index, features = 0, []
            while at < end:
                code = shift = 0
                while True:
                    byte = take("B")
                    code |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                kind, delta = code & 3, code >> 2
                index += -(delta >> 1) - 1 if delta & 1 else delta >> 1
                value = {0: 0x3F800000, 1: 0xBF800000}.get(kind)
                features.append("%x:%08x" % (index & mask, take("I") if value is None else value))
            out.append("%02x %s" % (ns, " ".join(features)))
        yield " | ".join(out)


def record(data, out, options):
    """Writes to out what vw makes of the file data, the options in the first line."""
    cache = os.path.join(tempfile.mkdtemp(), "cache")
    command = [sys.executable, "-m", "vowpalwabbit", "-d", data, "--cache_file", cache, "-k", "-t", "--quiet"] + options.split()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(cache, "rb") as f, open(out, "w") as o:
        print("vw 9.11.9", options, file=o)
        for line in decode(f.read()):
            print(line, file=o)
