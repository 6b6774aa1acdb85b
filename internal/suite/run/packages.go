package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// listPackages lists the packages of the module: those that run the built binary as its
// users do, and the others.
func listPackages(ctx context.Context) (endToEnd, others []string, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("list packages: %w", err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		if strings.Contains(p, "/internal/e2e") {
			endToEnd = append(endToEnd, p)
		} else {
			others = append(others, p)
		}
	}
	return endToEnd, others, nil
}
