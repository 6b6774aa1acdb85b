package fuzzed

import (
	"encoding/json"
	"testing"
)

func FuzzPasses(f *testing.F) {
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v map[string]int
		if json.Unmarshal(data, &v) == nil && len(v) > len(data) {
			t.Error("more keys than bytes")
		}
	})
}

func FuzzFails(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {
		if n == 1 {
			t.Error("the seed is refused")
		}
	})
}
