package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeJSON reads JSON; numbers stay as they are written.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return out, nil
}
