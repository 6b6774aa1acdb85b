package growth

import (
	"bytes"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
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

// Every text is in the sample of some reader, and each reader has some.
func TestSample(t *testing.T) {
	texts := []Text{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}
	seen := map[string]bool{}
	for _, reader := range []string{"nvidia-smi", "nvlink", "clocks", "topology", "dcgmi", "xid", "ibstat", "sminfo"} {
		part := sample(reader, texts)
		if len(part) == 0 {
			t.Errorf("%s has no text", reader)
		}
		for _, text := range part {
			seen[text.Name] = true
		}
	}
	if len(seen) != len(texts) {
		t.Errorf("texts %v are in a sample", seen)
	}
	if n := len(sample("nvidia-smi", texts)); suite.Current() < suite.All && n > 2 {
		t.Errorf("a quarter of 5 texts is %d", n)
	}
	if n := len(sample("nvidia-smi", texts[:3])); n != 3 {
		t.Errorf("%d of 3 texts", n)
	}
}
