// Package checktest tests that judges validate every field that they read.
//
// It takes the observations of a healthy cluster, spoils one field of one of them at a time
// (left out, zero, negative, out of range, another text, another time, an item less or twice),
// and judges again. A table in testdata has the outcome of each change: verdict and suspects.
// A change that may pass needs a reason in the test; any other pass is an error.
package checktest
