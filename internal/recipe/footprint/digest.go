package footprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// ValuesDigest is the SHA-256 of a component's Helm values in canonical JSON, in hexadecimal.
// It identifies a render of a footprint.
func ValuesDigest(values map[string]any) (string, error) {
	if values == nil {
		values = map[string]any{} // nil and empty values are the same
	}
	data, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("digest Helm values: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
