//go:build race

package tier_test

const race = true
