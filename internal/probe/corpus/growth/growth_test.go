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
