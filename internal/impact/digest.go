package impact

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// digestOf is the digest of a recipe: the SHA-256 of its inputs, which are in order.
// In which way the recipe is made of one is left out: that follows from the overlays.
func digestOf(inputs []resolve.Input) string {
	h := &hasher{text: make([]byte, 0, 128*len(inputs))}
	for i := range inputs {
		if in := &inputs[i]; i == 0 || in.Path != inputs[i-1].Path || in.Part != inputs[i-1].Part || in.Digest != inputs[i-1].Digest {
			h.line(in.Path, in.Part, in.Digest)
		}
	}
	return h.sum()
}

// hasher is the SHA-256 of lines of texts. No text of any of them may pass for the
// end of one.
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
