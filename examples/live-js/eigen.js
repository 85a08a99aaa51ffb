"use strict";
// Jacobi's method: rotations until nothing is left beside the diagonal.

const SWEEPS = 100;

/** Smallest eigenvalue of a symmetric matrix, with its unit eigenvector. */
function smallestEigenpair(matrix) {
  const d = matrix.length;
  const a = matrix.map((row) => [...row]);
  const v = matrix.map((_, j) => matrix.map((_, k) => (j === k ? 1 : 0)));
  const size = a.flat().reduce((sum, x) => sum + x * x, 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let left = 0;
    for (let p = 0; p < d; p++) for (let q = p + 1; q < d; q++) left += a[p][q] ** 2;
    if (left <= 1e-34 * size) break;
    for (let p = 0; p < d; p++) for (let q = p + 1; q < d; q++) if (a[p][q] !== 0) rotate(a, v, p, q);
  }
  let least = 0;
  for (let j = 1; j < d; j++) if (a[j][j] < a[least][least]) least = j;
  return [a[least][least], v.map((row) => row[least])];
}

function rotate(a, v, p, q) {
  const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const row of [...a, ...v]) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
  for (let k = 0; k < a.length; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
}

module.exports = { smallestEigenpair };
