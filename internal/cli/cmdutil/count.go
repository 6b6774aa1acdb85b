package cmdutil

import "fmt"

// Count is a number with its noun: "1 defect", "2 defects".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
