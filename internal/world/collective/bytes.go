package collective

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBytes parses a size in nccl-tests' notation: "8", "8M", "16G".
func ParseBytes(s string) (int64, error) {
	s = strings.TrimSpace(s)
	shift := 0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'K', 'k':
			shift, s = 10, s[:n-1]
		case 'M', 'm':
			shift, s = 20, s[:n-1]
		case 'G', 'g':
			shift, s = 30, s[:n-1]
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v <= 0 || v > (1<<62)>>shift {
		return 0, fmt.Errorf("invalid size %q: must be a positive number with K, M or G", s)
	}
	return v << shift, nil
}
