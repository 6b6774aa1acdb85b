package fanout

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// NewRunID returns an id: the UTC time and a random suffix.
func NewRunID(now time.Time, random io.Reader) (string, error) {
	var suffix [3]byte
	if _, err := io.ReadFull(random, suffix[:]); err != nil {
		return "", fmt.Errorf("generate a run id: %w", err)
	}
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(suffix[:]), nil
}
