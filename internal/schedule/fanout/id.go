package fanout

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// NewRunID makes a run's id: its time, in UTC, and what tells it from another of the
// same second.
func NewRunID(now time.Time, random io.Reader) (string, error) {
	var suffix [3]byte
	if _, err := io.ReadFull(random, suffix[:]); err != nil {
		return "", fmt.Errorf("make an id for the run: %w", err)
	}
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(suffix[:]), nil
}
