package impact

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// digestOf is the SHA-256 of the inputs, which are sorted. The reason why a recipe has an input
// is left out: it follows from the overlays.
func digestOf(inputs []resolve.Input) string {
	h := &hasher{text: make([]byte, 0, 128*len(inputs))}
	for i := range inputs {
		if in := &inputs[i]; i == 0 || in.Path != inputs[i-1].Path || in.Part != inputs[i-1].Part || in.Digest != inputs[i-1].Digest {
			h.line(in.Path, in.Part, in.Digest)
		}
	}
	return h.sum()
}

// hasher computes the SHA-256 of lines of texts. The encoding is unambiguous: no text can
// contain the end of a line.
type hasher struct{ text []byte }

func newHasher() *hasher { return &hasher{} }

func (h *hasher) line(texts ...string) {
	for _, t := range texts {
		h.text = append(append(h.text, t...), 0)
	}
	h.text = append(h.text, '\n', 0)
}

func (h *hasher) sum() string {
	sum := sha256.Sum256(h.text)
	return hex.EncodeToString(sum[:])
}
