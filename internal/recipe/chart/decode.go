package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeJSON keeps numbers as json.Number.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return out, nil
}
