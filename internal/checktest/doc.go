// Package checktest holds judges to every field that they read.
//
// It takes the observations of a healthy cluster, spoils one field of one of them at a time
// (left out, zero, negative, out of range, another word, another time, an item less or twice),
// and judges again. The outcome of each is in a table beside the test: verdict and suspects.
// A field that may be spoilt without harm needs a reason in the test; without one, a verdict
// that is still passed is an error whatever the table says.
package checktest
