package footprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// ValuesDigest is the SHA-256, in hexadecimal, of a component's Helm values in
// canonical JSON: it says which render of a footprint is theirs.
func ValuesDigest(values map[string]any) (string, error) {
	if values == nil {
		values = map[string]any{} // no values are one set of values
	}
	data, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("digest Helm values: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
