package footprint

import (
	"github.com/firstlight/firstlight/internal/recipe/digest"
)

// ValuesDigest is the SHA-256 of a component's Helm values in canonical JSON, in hexadecimal.
// It identifies a render of a footprint.
func ValuesDigest(values map[string]any) (string, error) {
	if values == nil {
		values = map[string]any{} // nil and empty values are the same
	}
	return digest.JSON(values)
}
