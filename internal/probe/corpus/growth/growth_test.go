package growth

import (
	"bytes"
	"testing"
)

// The measure finds a reader that reads the whole rest of the text from every place of it.
func TestGrowthIsSeen(t *testing.T) {
	square := func(text []byte) {
		for i := range text {
			if bytes.IndexByte(text[i:], 1) >= 0 {
				return
			}
		}
	}
	if ratio := from(base, square, func(size int) []byte { return make([]byte, size) }); ratio <= Most {
		t.Errorf("a reader that is quadratic grows by %.1f only", ratio)
	}
}

// The measure finds a reader that keeps a copy of the text for every byte of it.
func TestGrowthOfMemoryIsSeen(t *testing.T) {
	var kept [][]byte
	square := func(text []byte) {
		kept = nil
		for range len(text) / 64 {
			kept = append(kept, bytes.Clone(text))
		}
	}
	if ratio := Memory(square, func(size int) []byte { return make([]byte, size) }); ratio <= Most {
		t.Errorf("a reader whose memory is quadratic grows by %.1f only", ratio)
	}
	if ratio := Memory(func(text []byte) { kept = [][]byte{bytes.Clone(text)} }, func(size int) []byte { return make([]byte, size) }); ratio > Most {
		t.Errorf("a reader that keeps the text grows by %.1f", ratio)
	}
}
