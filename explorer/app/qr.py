"""QR codes of addresses (ISO/IEC 18004): bytes, error correction L, versions 1 to 20, as an SVG; nothing is asked of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.errors import ChoiceError

Modules = NDArray[np.bool_]
EC = (
    7,
    10,
    15,
    20,
    26,
    18,
    20,
    24,
    30,
    18,
    20,
    24,
    26,
    30,
    22,
    24,
    28,
    30,
    28,
    28,
)  # error correction bytes of a block, by version
BLOCKS = (1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8)
MASKS: tuple[Callable[[NDArray[np.int_], NDArray[np.int_]], NDArray[np.int_]], ...] = (
    lambda i, j: (i + j) % 2,
    lambda i, j: i % 2 + 0 * j,
    lambda i, j: j % 3 + 0 * i,
    lambda i, j: (i + j) % 3,
    lambda i, j: (i // 2 + j // 3) % 2,
    lambda i, j: i * j % 2 + i * j % 3,
    lambda i, j: (i * j % 2 + i * j % 3) % 2,
    lambda i, j: ((i + j) % 2 + i * j % 3) % 2,
)


class TooLong(ChoiceError):
    """More than a code of this size holds."""


@lru_cache(maxsize=64)
def svg(text: str) -> str:
    """A text as a QR code, with the four white modules around it that readers need.

    >>> svg("http://127.0.0.1:8501/")[:4]
    '<svg'
    """
    modules = encode(text)
    size = len(modules) + 8
    path = "".join(f"M{x + 4} {y + 4}h1v1h-1z" for y, x in np.argwhere(modules))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" role="img" aria-label="QR code of the address" '
        f'width="260" height="260" shape-rendering="crispEdges"><path d="M0 0h{size}v{size}h-{size}z" fill="#fff"/>'
        f'<path d="{path}" fill="#000"/></svg>'
    )


def encode(text: str) -> Modules:
    """The modules of a text's code, True where dark, in the smallest version that holds it."""
    data = text.encode()
    version = next((n for n in range(1, len(EC) + 1) if len(data) * 8 + 4 + length_bits(n) <= 8 * data_bytes(n)), 0)
    if not version:
        raise TooLong(f"The address has {len(data):,} bytes; a QR code here holds 858. Shorten the text on the page.")
    bits = codewords(data, version)
    drawn = [_masked(version, bits, mask) for mask in range(len(MASKS))]
    return min(drawn, key=penalty)


def length_bits(version: int) -> int:
    """The bits that say how long the text is."""
    return 8 if version < 10 else 16


def total_bytes(version: int) -> int:
    """The bytes of a version, data and error correction together."""
    return int((~_reserved(version)).sum()) // 8


def data_bytes(version: int) -> int:
    """The bytes of a version that hold data."""
    return total_bytes(version) - EC[version - 1] * BLOCKS[version - 1]


def codewords(data: bytes, version: int) -> list[int]:
    """The bits of a code: the text in blocks, interleaved, then the error correction of each."""
    room = data_bytes(version)
    bits = f"0100{len(data):0{length_bits(version)}b}" + "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, 8 * room - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[n : n + 8], 2) for n in range(0, len(bits), 8)]
    words += [(0xEC, 0x11)[n % 2] for n in range(room - len(words))]
    count = BLOCKS[version - 1]
    short, longer = room // count, room % count
    ends = np.cumsum([0, *(short + (n >= count - longer) for n in range(count))])
    blocks = [words[ends[n] : ends[n + 1]] for n in range(count)]
    checks = [correction(block, EC[version - 1]) for block in blocks]
    mixed = [block[n] for n in range(short + 1) for block in blocks if n < len(block)]
    mixed += [check[n] for n in range(EC[version - 1]) for check in checks]
    return [int(bit) for word in mixed for bit in f"{word:08b}"]


def _product(a: int, b: int) -> int:
    """A product in the field of 256 elements (0x11D)."""
    made = 0
    for bit in range(7, -1, -1):
        made = (made << 1) ^ (0x11D if made & 0x80 else 0)
        made ^= a if b >> bit & 1 else 0
    return made


def correction(words: list[int], count: int) -> list[int]:
    """The Reed–Solomon bytes of a block: what is left of it after division by the generator."""
    generator, root = [1], 1
    for _ in range(count):
        shifted = [*generator, 0]
        generator = [a ^ _product(b, root) for a, b in zip(shifted, [0, *generator], strict=True)]
        root = _product(root, 2)
    rest = [*words, *[0] * count]
    for n in range(len(words)):
        factor = rest[n]
        for place, part in enumerate(generator):
            rest[n + place] ^= _product(part, factor)
    return rest[len(words) :]


def _centres(version: int) -> list[int]:
    """Where the small squares stand that straighten a picture."""
    if version == 1:
        return []
    count, size = version // 7 + 2, 17 + 4 * version
    step = (version * 8 + count * 3 + 5) // (count * 4 - 4) * 2
    return [6, *reversed([size - 7 - n * step for n in range(count - 1)])]


def _patterns(version: int) -> tuple[Modules, Modules]:
    """What every code of a version has, and which modules it takes."""
    size = 17 + 4 * version
    dark, taken = np.zeros((size, size), bool), np.zeros((size, size), bool)
    dark[6, ::2] = dark[::2, 6] = taken[6] = taken[:, 6] = True
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        rows, columns = slice(max(top - 1, 0), top + 8), slice(max(left - 1, 0), left + 8)
        taken[rows, columns], dark[rows, columns] = True, False
        dark[top : top + 7, left : left + 7] = _rings(7)
    centres = _centres(version)
    corners = {(6, 6), (6, size - 7), (size - 7, 6)}
    for row in centres:
        for column in centres:
            if (row, column) not in corners:
                square = slice(row - 2, row + 3), slice(column - 2, column + 3)
                dark[square], taken[square] = _rings(5), True
    taken[8, :9] = taken[:9, 8] = taken[8, size - 8 :] = taken[size - 8 :, 8] = True
    dark[size - 8, 8] = True
    if version >= 7:
        taken[:6, size - 11 : size - 8] = taken[size - 11 : size - 8, :6] = True
        for n in range(18):
            bit = bool(_checked(version, 6, 0x1F25) >> n & 1)
            dark[n // 3, size - 11 + n % 3] = dark[size - 11 + n % 3, n // 3] = bit
    return dark, taken


def _rings(size: int) -> Modules:
    """A dark square, a light ring, a dark heart."""
    far = np.abs(np.arange(size) - size // 2)
    return np.maximum(far[:, None], far[None]) != size // 2 - 1


def _reserved(version: int) -> Modules:
    return _patterns(version)[1]


def _checked(value: int, width: int, generator: int) -> int:
    """A number with its BCH bits."""
    rest, bits = value, generator.bit_length() - 1
    for _ in range(bits):
        rest = (rest << 1) ^ (generator if rest >> (bits - 1) & 1 else 0)
    return value << bits | rest


def format_bits(mask: int) -> int:
    """The fifteen bits that say: error correction L, and this mask."""
    return _checked(0b01 << 3 | mask, 5, 0x537) ^ 0x5412


def places(version: int) -> Iterator[tuple[int, int]]:
    """Where the bits go: up and down in pairs of columns, from the right, around what is taken."""
    taken = _reserved(version)
    size = len(taken)
    for turn, right in enumerate([*range(size - 1, 6, -2), 5, 3, 1]):
        for row in range(size) if turn % 2 else range(size - 1, -1, -1):
            for column in (right, right - 1):
                if not taken[row, column]:
                    yield row, column


def _masked(version: int, bits: list[int], mask: int) -> Modules:
    """A code under one mask."""
    dark, taken = _patterns(version)
    for (row, column), bit in zip(places(version), bits, strict=False):  # a few modules may be left over
        dark[row, column] = bool(bit)
    size = len(dark)
    i, j = np.indices((size, size))
    dark ^= (MASKS[mask](i, j) == 0) & ~taken
    said = [bool(format_bits(mask) >> n & 1) for n in range(15)]
    for n, bit in enumerate(said):
        dark[n if n < 6 else n + 1 if n < 8 else size - 15 + n, 8] = bit
        dark[8, size - 1 - n if n < 8 else 7 if n == 8 else 14 - n] = bit
    dark[size - 8, 8] = True
    return dark


def penalty(dark: Modules) -> int:
    """How hard a code is to read, by the four rules of the standard."""
    size, found = len(dark), 0
    finder = np.array([1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0], bool)
    for lines in (dark, dark.T):
        for line in lines:
            runs = np.diff(np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1], [True]))))
            found += int((runs[runs >= 5] - 2).sum())
            windows = np.lib.stride_tricks.sliding_window_view(line, 11)
            found += 40 * int((windows == finder).all(1).sum() + (windows == finder[::-1]).all(1).sum())
    same = (dark[1:, 1:] == dark[:-1, 1:]) & (dark[1:, 1:] == dark[1:, :-1]) & (dark[1:, 1:] == dark[:-1, :-1])
    return found + 3 * int(same.sum()) + 10 * int(abs(dark.sum() * 20 / size**2 - 10))
