// Package digest computes SHA-256 digests of the parts of a recipe, in hexadecimal.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Bytes is the digest of data.
func Bytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// JSON is the digest of a value in canonical JSON: the fields in the order of the type, the
// keys of mappings sorted.
func JSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return Bytes(data), nil
}

// MustJSON is JSON of a value of a type that can always be encoded.
func MustJSON(v any) string {
	text, err := JSON(v)
	if err != nil {
		panic(err.Error())
	}
	return text
}
