package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// A pattern that hides nodes of the site is refused.
func TestOtherNodes(t *testing.T) {
	t.Parallel()
	for nodes, says := range map[string]string{
		`[l40s-1, "gke-l40s-*"]`: "",
		`["*"]`:                  `"*" matches "gpu-01", which is the site's own`,
		`["GPU-0?"]`:             `"GPU-0?" matches "gpu-01"`,
		`["[gpu"]`:               "invalid pattern",
		`[""]`:                   "is empty",
		`[l40s-1, l40s-1]`:       "l40s-1",
	} {
		text := strings.Replace(string(site.Example()), "\ninventory:\n", "\ninventory:\n  otherNodes: "+nodes+"\n", 1)
		_, err := site.Parse("s.yaml", []byte(text))
		switch {
		case says == "" && err != nil && strings.Contains(err.Error(), "otherNodes"):
			t.Errorf("%s: %v", nodes, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), "otherNodes") || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", nodes, err, says)
		}
	}
}

// Series have a node's name with or without its domain, in any case.
func TestNamesOfOtherNodes(t *testing.T) {
	t.Parallel()
	in := site.Inventory{OtherNodes: []string{"l40s-*", "a.example.com"}}
	for name, want := range map[string]bool{"l40s-1": true, "L40S-1.example.com": true, "a.example.com": true, "a": false, "gpu-l40s-1": false, "": false} {
		if got := in.OfOtherSite(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
