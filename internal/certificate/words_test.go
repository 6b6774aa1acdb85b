package certificate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/check"
)

// A part of a text is of whole words, and names what is accepted: a waiver that was agreed for one node
// or value does not accept the next one.
func TestAWaiverFitsWholeWords(t *testing.T) {
	t.Parallel()
	broken := machines(h100, h100)
	broken.failed = []string{"gpu-02"}
	leftOut, short := of(broken, 1), run{}
	finding := func(message string) run {
		return run{steps: step("inference", check.Fail("slow", check.Finding{Suspect: "server", Message: message}))}
	}
	for name, tt := range map[string]struct {
		run    run
		waiver certificate.Waiver
		fits   bool
	}{
		"a node":                           {leftOut, waiver("", "run", "left out: gpu-02"), true},
		"a node, with its finding":         {leftOut, waiver("", "run", "gpu-02, which failed gate node: gpu-02 is broken"), true},
		"the begin of a node":              {leftOut, waiver("", "run", "left out: gpu-0"), false},
		"the begin of a node and a hyphen": {leftOut, waiver("", "run", "left out: gpu-"), false},
		"no node":                          {leftOut, waiver("", "run", "left out:"), false},
		"any node of a gate":               {leftOut, waiver("", "run", "which failed gate node"), false},
		"a measured value":                 {short, waiver("collective", "busbw", "measured 365.9 GB/s"), true},
		"a part of a value":                {short, waiver("collective", "busbw", "measured 365"), false},
		"the begin of a value":             {short, waiver("collective", "busbw", "measured 36"), false},
		"any value":                        {short, waiver("collective", "busbw", "requires at least 366 GB/s"), false},
		"a word of a finding":              {finding("TTFT p99 is 900 ms"), waiver("inference", "server", "900 ms"), true},
		"the end of a number":              {finding("TTFT p99 is 1900 ms"), waiver("inference", "server", "900 ms"), false},
		"the fraction of a number":         {finding("TTFT p99 is 1.5 s"), waiver("inference", "server", "5 s"), false},
		"a host of a domain":               {finding("gpu-1.example is slow"), waiver("inference", "server", "gpu-1"), false},
		"a word before a full stop":        {finding("slow on gpu-1."), waiver("inference", "server", "gpu-1"), true},
		"a word in two places":             {finding("gpu-12 and gpu-1: slow"), waiver("inference", "server", "gpu-1"), true},
	} {
		wanted := terms()
		wanted.Figures[0].AtLeast = new(366.0)
		wanted.Waivers = []certificate.Waiver{tt.waiver}
		_, err := certificate.Derive(tt.run.evidence(t), wanted, tool, issued)
		if tt.fits && err != nil || !tt.fits && (!errors.Is(err, certificate.ErrTerms) || !strings.Contains(err.Error(), "fits no deviation")) {
			t.Errorf("%s: fits %t: %v", name, tt.fits, err)
		}
	}
}
