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

// The texts are in the layout of outputs in public: of 570.00 in an issue of NVIDIA's DRA driver, of 570.172
// in the user guides of AWS ParallelCluster and PCS, of 580.95.09 with -H.
const imexLegendText = `Connectivity Table Legend:
I - Invalid - Node wasn't reachable, no connection status available
N - Never Connected
R - Recovering - Connection was lost, but clean up has not yet been triggered.
D - Disconnected - Connection was lost, and clean up has been triggreed.
A - Authenticating - If GSSAPI enabled, client has initiated mutual authentication.
!V! - Version mismatch, communication disabled.
!M! - Node map mismatch, communication disabled.
C - Connected - Ready for operation

9/4/2026 00:37:39.905`

const imexText = imexLegendText + `
Nodes:
Node #0   - 10.0.0.1        - READY                - Version: 580.95.05
Node #1   - 10.0.0.2        - UNAVAILABLE          - Version:

 Nodes From\To  0   1
       0        C   N
       1        I   I

Domain State: DEGRADED
`

const imexText570 = `Connectivity Table Legend:
I - Invalid - Node wasn't reachable, no connection status available
N - Never Connected
C - Connected - Ready for operation

3/25/2025 10:42:08.082
Nodes:
Node #0   - 10.0.0.1   - READY
Node #1   - 10.0.0.2   - READY

 Nodes From\To  0  1
       0        C  C
       1        C  C
Domain State: UP
`

const imexUnit = "LoadState=loaded\nActiveState=active\nSubState=running\n"

func TestParseIMEX(t *testing.T) {
	t.Parallel()
	unit := &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}
	domain := &nvidia.IMEXDomain{State: "DEGRADED", Nodes: []nvidia.IMEXNode{
		{Number: 0, Host: "10.0.0.1", State: "READY", Version: "580.95.05", Connections: map[int]string{0: "CONNECTED", 1: "NEVER_CONNECTED"}},
		{Number: 1, Host: "10.0.0.2", State: "UNAVAILABLE", Connections: map[int]string{0: "INVALID", 1: "INVALID"}},
	}}
	texted := *domain
	for name, tt := range map[string]struct {
		unit, addresses, domain string // of the domain: -N -j, and after "|" -N, and -q
		want                    nvidia.IMEX
		err                     string
	}{
		"text of 580": {imexUnit, "10.0.0.1\n", "Unknown option: -j\nUsage: nvidia-imex-ctl\n|" + imexText + "|READY\n",
			nvidia.IMEX{Unit: unit, Addresses: []string{"10.0.0.1"}, Domain: &texted, Text: true, Daemon: "READY"}, ""},
		"both": {imexUnit, "", imexDocument + "|" + imexText + "|READY\n", nvidia.IMEX{Unit: unit, Domain: domain, Daemon: "READY"}, ""},
		"text of 570.00, without versions": {imexUnit, "", "|" + imexText570 + "|READY\n", nvidia.IMEX{Unit: unit, Daemon: "READY", Text: true, Domain: &nvidia.IMEXDomain{
			State: "UP", Nodes: []nvidia.IMEXNode{
				{Number: 0, Host: "10.0.0.1", State: "READY", Connections: map[int]string{0: "CONNECTED", 1: "CONNECTED"}},
				{Number: 1, Host: "10.0.0.2", State: "READY", Connections: map[int]string{0: "CONNECTED", 1: "CONNECTED"}},
			},
		}}, ""},
		"text with host names": {"", "", "|" + imexLegendText + `
Nodes:
Node #0   * 10.0.0.1 *         - READY                - Version: 580.95.09   - Hostname: gpu-node-1
Node #1   - 10.0.0.2           - UNAVAILABLE          - Version:             - Hostname: gpu-node-2

 Nodes From\To  0   1
       0        C  !M!
       1        I   I

Domain State: DEGRADED
|`, nvidia.IMEX{Text: true, Domain: &nvidia.IMEXDomain{State: "DEGRADED", Nodes: []nvidia.IMEXNode{
			{Number: 0, Host: "10.0.0.1", State: "READY", Version: "580.95.09", Connections: map[int]string{0: "CONNECTED", 1: "NODE_MAP_MISMATCH"}},
			{Number: 1, Host: "10.0.0.2", State: "UNAVAILABLE", Connections: map[int]string{0: "INVALID", 1: "INVALID"}},
		}}}, ""},
		"a daemon that waits":           {imexUnit, "", "|Failed to read node configuration file\n|WAITING_FOR_PEERS\n", nvidia.IMEX{Unit: unit, Daemon: "WAITING_FOR_PEERS", Trouble: "Failed to read node configuration file"}, ""},
		"no daemon":                     {imexUnit, "", "||Failed to connect to 127.0.0.1:50005\n", nvidia.IMEX{Unit: unit}, ""},
		"text without the state":        {"", "", "|" + strings.Replace(imexText, "Domain State: DEGRADED", "", 1) + "|", nvidia.IMEX{}, "state of the domain is missing"},
		"text with two states":          {"", "", "|" + imexText + "Domain State: UP\n|", nvidia.IMEX{}, "two states"},
		"text without the table":        {"", "", "|Nodes:\nNode #0   - 10.0.0.1   - READY\n\nDomain State: UP\n|", nvidia.IMEX{}, "table of connections is missing"},
		"text of half a row":            {"", "", "|" + strings.Replace(imexText, "       0        C   N", "       0        C", 1) + "|", nvidia.IMEX{}, "want a node and 2 states"},
		"text of an unknown row":        {"", "", "|" + strings.Replace(imexText, "       1        I   I", "       7        I   I", 1) + "|", nvidia.IMEX{}, "want a node and 2 states"},
		"text with a row twice":         {"", "", "|" + strings.Replace(imexText, "       1        I   I", "       0        I   I", 1) + "|", nvidia.IMEX{}, "two connections of node 0"},
		"text with an unknown code":     {"", "", "|" + strings.Replace(imexText, "       1        I   I", "       1        X   I", 1) + "|", nvidia.IMEX{}, `connection "X" of node 1: not in the legend`},
		"text with a node of no state":  {"", "", "|" + strings.Replace(imexText, "- UNAVAILABLE", "", 1) + "|", nvidia.IMEX{}, "want number, address and state"},
		"text with a header of letters": {"", "", "|" + strings.Replace(imexText, "To  0   1", "To  a   b", 1) + "|", nvidia.IMEX{}, "want the numbers of nodes"},
		"two nodes":                     {imexUnit, "10.0.0.1 172.17.0.1 fd00::1 \n", imexDocument, nvidia.IMEX{Unit: unit, Addresses: []string{"10.0.0.1", "172.17.0.1", "fd00::1"}, Domain: domain}, ""},
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
		document, rest, _ := strings.Cut(tt.domain, "|")
		text, daemon, cut := strings.Cut(rest, "|")
		if !cut {
			text = document // both forms print the same trouble
		}
		got, err := nvidia.ParseIMEX([]byte("=unit=\n" + tt.unit + "=addresses=\n" + tt.addresses + "=domain=\n" + document + "=text=\n" + text + "=daemon=\n" + daemon))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, cut := range []string{"", "=unit=\n", "=unit=\n=addresses=\n", "=addresses=\n=domain=\n", "=unit=\n=addresses=\n=domain=\n", "=unit=\n=addresses=\n=domain=\n=text=\n"} {
		if _, err := nvidia.ParseIMEX([]byte(cut)); err == nil {
			t.Errorf("%q has all sections", cut)
		}
	}
}

func FuzzParseIMEX(f *testing.F) {
	f.Add([]byte("=unit=\n" + imexUnit + "=addresses=\n10.0.0.1\n=domain=\n" + imexDocument + "=text=\n=daemon=\nREADY\n"))
	f.Add([]byte("=unit=\n" + imexUnit + "=addresses=\n10.0.0.1\n=domain=\n=text=\n" + imexText + "=daemon=\nREADY\n"))
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
