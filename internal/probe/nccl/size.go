package nccl

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize parses a size argument of nccl-tests: "8", "8K", "8M", "16G".
func ParseSize(s string) (int64, error) {
	shift := 0
	digits := s
	for unit, bits := range map[string]int{"K": 10, "M": 20, "G": 30} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(s), unit); ok {
			digits, shift = rest, bits
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("invalid size %q: must be a number with an optional K, M or G, such as 8M or 16G", s)
	}
	return n << shift, nil
}
