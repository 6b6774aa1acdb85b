package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The document is in the layout that NVIDIA/ai-cloud-validation (imex_domain_test.py) quotes of two
// hosts with 580.95.05: one daemon answers, the other does not.
const imexDocument = `{
  "nodes": {
    "1": {
      "status": "UNAVAILABLE",
      "host": "10.0.0.2",
      "connections": {
        "0": {"host": "10.0.0.1", "status": "INVALID", "changed": true},
        "1": {"host": "10.0.0.2", "status": "INVALID", "changed": true}
      },
      "changed": true,
      "version": ""
    },
    "0": {
      "status": "READY",
      "host": "10.0.0.1",
      "hostName": "gpu-node-1",
      "connections": {
        "0": {"host": "10.0.0.1", "status": "CONNECTED", "changed": true},
        "1": {"host": "10.0.0.2", "status": "NEVER_CONNECTED", "changed": true}
      },
      "changed": true,
      "version": "580.95.05"
    }
  },
  "timestamp": "9/4/2026 00:37:39.905",
  "status": "DEGRADED"
}
`

const imexUnit = "LoadState=loaded\nActiveState=active\nSubState=running\n"

func TestParseIMEX(t *testing.T) {
	t.Parallel()
	unit := &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}
	domain := &nvidia.IMEXDomain{State: "DEGRADED", Nodes: []nvidia.IMEXNode{
		{Number: 0, Host: "10.0.0.1", State: "READY", Version: "580.95.05", Connections: map[int]string{0: "CONNECTED", 1: "NEVER_CONNECTED"}},
		{Number: 1, Host: "10.0.0.2", State: "UNAVAILABLE", Connections: map[int]string{0: "INVALID", 1: "INVALID"}},
	}}
	for name, tt := range map[string]struct {
		unit, addresses, domain string
		want                    nvidia.IMEX
		err                     string
	}{
		"two nodes": {imexUnit, "10.0.0.1 172.17.0.1 fd00::1 \n", imexDocument, nvidia.IMEX{Unit: unit, Addresses: []string{"10.0.0.1", "172.17.0.1", "fd00::1"}, Domain: domain}, ""},
		"a warning before the document": {imexUnit, "10.0.0.1\n", "nvidia-imex-ctl: a warning\n" + imexDocument,
			nvidia.IMEX{Unit: unit, Addresses: []string{"10.0.0.1"}, Domain: domain}, ""},
		"a domain of no nodes": {imexUnit, "", `{"timestamp": "9/4/2026 00:37:39.905", "status": "DOWN"}`, nvidia.IMEX{Unit: unit, Domain: &nvidia.IMEXDomain{State: "DOWN"}}, ""},
		"no configuration": {imexUnit, "", "Failed to read node configuration file /etc/nvidia-imex/nodes_config.cfg\nUsage: nvidia-imex-ctl\n",
			nvidia.IMEX{Unit: unit, Trouble: "Failed to read node configuration file /etc/nvidia-imex/nodes_config.cfg"}, ""},
		"no program":             {"LoadState=not-found\nActiveState=inactive\nSubState=dead\n", "", "sh: 1: nvidia-imex-ctl: not found\n", nvidia.IMEX{Unit: &nvidia.Unit{Load: "not-found", Active: "inactive", Sub: "dead"}, Trouble: "sh: 1: nvidia-imex-ctl: not found"}, ""},
		"nothing":                {"", "", "", nvidia.IMEX{}, ""},
		"no state of the domain": {"", "", `{"nodes": {}}`, nvidia.IMEX{}, "status of the domain is missing"},
		"half a document":        {"", "", imexDocument[:200], nvidia.IMEX{}, "unexpected EOF"},
		"a node without state":   {"", "", strings.Replace(imexDocument, `"UNAVAILABLE"`, `""`, 1), nvidia.IMEX{}, `node "1"`},
		"a node without host":    {"", "", strings.Replace(imexDocument, `"host": "10.0.0.2",`, "", 1), nvidia.IMEX{}, `node "1"`},
		"a node by name":         {"", "", strings.Replace(imexDocument, `"1": {`, `"one": {`, 1), nvidia.IMEX{}, `node "one"`},
		"a connection's state":   {"", "", strings.Replace(imexDocument, `"CONNECTED"`, `""`, 1), nvidia.IMEX{}, `connection "0" of node 0`},
		"another unit":           {"Id=nvidia\n", "", "", nvidia.IMEX{}, "expected LoadState"},
		"no address":             {"", "hostname: invalid option\n", "", nvidia.IMEX{}, "hostname -I"},
		"no text":                {"\xff\n", "", "", nvidia.IMEX{}, "UTF-8"},
	} {
		got, err := nvidia.ParseIMEX([]byte("=unit=\n" + tt.unit + "=addresses=\n" + tt.addresses + "=domain=\n" + tt.domain))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, cut := range []string{"", "=unit=\n", "=unit=\n=addresses=\n", "=addresses=\n=domain=\n"} {
		if _, err := nvidia.ParseIMEX([]byte(cut)); err == nil {
			t.Errorf("%q has all sections", cut)
		}
	}
}

func FuzzParseIMEX(f *testing.F) {
	f.Add([]byte("=unit=\n" + imexUnit + "=addresses=\n10.0.0.1\n=domain=\n" + imexDocument))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := nvidia.ParseIMEX(data)
		if err != nil || m.Domain == nil {
			return
		}
		if m.Domain.State == "" {
			t.Error("a domain without a state and no error")
		}
		for _, n := range m.Domain.Nodes {
			if n.Host == "" || n.State == "" {
				t.Errorf("a node without host or state and no error: %+v", n)
			}
		}
	})
}
