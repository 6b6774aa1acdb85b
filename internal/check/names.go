package check

import (
	"fmt"
	"strings"
)

// JoinNames joins at most most names and counts the others: "a, b and 3 more".
func JoinNames(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
