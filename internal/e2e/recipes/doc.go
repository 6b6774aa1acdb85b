// Package recipes holds the end-to-end tests of firstlight recipe test: the built
// binary tests every recipe on control planes that it starts itself. They are
// apart from the tests on labs, which measure latencies.
package recipes
