"""Fourier transforms of eight sequences side by side: correct, reversible, and the same in Python and in kernels."""

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.kernels.fourier import COLUMNS, SIDE_BY_SIDE, roots_of_unity, size_for, transform, transform_back
from podium.kernels.logarithm import interpolation_weights, points, polynomials


def sequences(rows):
    return np.random.default_rng(rows).normal(size=(rows, COLUMNS))


def as_complex(table):
    return table[:, :SIDE_BY_SIDE] + 1j * table[:, SIDE_BY_SIDE:]


def transform_and_back(table, spectrum, roots):
    transform(table, table.shape[0], roots)
    for row in range(table.shape[0]):
        for column in range(COLUMNS):
            spectrum[row, column] = table[row, column]
    transform_back(table, table.shape[0], roots)


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 32, 64])
def test_a_transform_has_the_defined_numbers_and_can_be_reversed(rows):
    table, roots = sequences(rows), roots_of_unity(2 * rows)
    spectrum, wanted = np.empty_like(table), np.fft.fft(as_complex(table), axis=0)
    again = table.copy()
    transform_and_back(again, spectrum, roots)
    for lane in range(SIDE_BY_SIDE):
        found = as_complex(spectrum)[:, lane]
        assert max(np.abs(found - each).min() for each in wanted[:, lane]) < 1e-13
    np.testing.assert_allclose(again / rows, table, rtol=0, atol=1e-14)


def test_compiled_transforms_give_the_bits_of_python():
    compiled = compile_kernel(transform_and_back, cached=False)
    for rows in (8, 64):
        one, other = sequences(rows), sequences(rows)
        spectra = np.empty_like(one), np.empty_like(one)
        transform_and_back(one, spectra[0], roots_of_unity(rows))
        compiled(other, spectra[1], roots_of_unity(rows))
        assert one.tobytes() == other.tobytes()
        assert spectra[0].tobytes() == spectra[1].tobytes()
    for rows in (1 << 13, 1 << 14):  # larger than a block, in quarters, and in eighths that end in pairs
        table, spectrum = sequences(rows), np.empty((rows, COLUMNS))
        compiled(table, spectrum, roots_of_unity(rows))
        np.testing.assert_allclose(table / rows, sequences(rows), rtol=0, atol=1e-14)
        power = (as_complex(sequences(rows)).__abs__() ** 2).sum() * rows
        assert (as_complex(spectrum).__abs__() ** 2).sum() == pytest.approx(power, rel=1e-13)


def test_roots_of_unity_are_correct_and_the_same_in_every_table():
    angle = 2.0 * np.pi * np.arange(4096) / 4096
    roots = roots_of_unity(4096)
    np.testing.assert_allclose(roots, np.stack([np.cos(angle), np.sin(angle)], 1), rtol=0, atol=1e-15)
    assert roots_of_unity(512).tobytes() == roots[::8].copy().tobytes()


def test_the_size_for_a_sequence_is_the_next_power_of_two():
    assert [size_for(count) for count in (0, 1, 2, 3, 1024, 1025)] == [1, 1, 2, 4, 1024, 2048]


@pytest.mark.parametrize("count", [24, 32])
def test_chebyshev_points_and_polynomials_are_cosines(count):
    angle = (2 * np.arange(count) + 1) * np.pi / (2 * count)
    np.testing.assert_allclose(points(count), np.cos(angle), rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        polynomials(count), np.cos(np.outer(np.arange(count), angle)), rtol=0, atol=count * 1e-15
    )
    signs = (-1.0) ** np.arange(count)
    np.testing.assert_allclose(interpolation_weights(count), signs * np.sin(angle), rtol=0, atol=1e-15)  # sin(angle)
