package main

import (
	"slices"
	"testing"
)

func TestFlags(t *testing.T) {
	for pkg, want := range map[string]bool{
		"github.com/firstlight/firstlight/internal/probe/nccl":      true,
		"github.com/firstlight/firstlight/internal/probe/nccl_test": true,
		"encoding/json": true, "sigs.k8s.io/yaml/goyaml.v2": true,
		"strconv": false, "k8s.io/client-go/rest": false, "github.com/firstlight/firstlightx": false, "encoding/jsonx": false,
	} {
		args := []string{"-o", "x", "-p", pkg, counters, "a.go"}
		got := flags(args)
		if slices.Contains(got, counters) != want || len(got) < len(args)-1 || !slices.Contains(args, counters) {
			t.Errorf("%s: arguments %q of %q, want counters: %v", pkg, got, args, want)
		}
	}
	if got := flags([]string{"-V=full"}); !slices.Equal(got, []string{"-V=full"}) {
		t.Errorf("arguments without a package: %q", got)
	}
}
