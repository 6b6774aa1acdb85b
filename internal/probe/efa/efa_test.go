package efa_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/efa"
)

// Outputs of fi_info -p efa: of libfabric 2.x with two fabrics of one device, and of p4d.24xlarge in
// AWS' guide, without indentation.
const (
	libfabric2 = `provider: efa
    fabric: efa-direct
    domain: rdmap47s0-rdm
    version: 206.0
    type: FI_EP_RDM
    protocol: FI_PROTO_EFA
provider: efa
    fabric: efa
    domain: rdmap47s0-rdm
    version: 206.0
    type: FI_EP_RDM
    protocol: FI_PROTO_EFA
`
	p4d = `provider: efa
fabric: EFA-fe80::c6e:8fff:fef6:e7ff
domain: efa_0-rdm
version: 111.0
type: FI_EP_RDM
protocol: FI_PROTO_EFA
`
	devices = `/sys/class/infiniband/rdmap79s0/ports/1/state:4: ACTIVE
/sys/class/infiniband/rdmap80s0/ports/1/state:1: DOWN
`
	counters = `/sys/class/infiniband/rdmap79s0/ports/1/hw_counters/rx_drops:7
/sys/class/infiniband/rdmap79s0/ports/1/hw_counters/rdma_read_wr_err:0
`
)

func TestParse(t *testing.T) {
	t.Parallel()
	endpoints, err := efa.ParseEndpoints([]byte(libfabric2 + p4d))
	want := []efa.Endpoint{
		{Provider: "efa", Fabric: "efa-direct", Domain: "rdmap47s0-rdm", Version: "206.0", Type: "FI_EP_RDM", Protocol: "FI_PROTO_EFA"},
		{Provider: "efa", Fabric: "efa", Domain: "rdmap47s0-rdm", Version: "206.0", Type: "FI_EP_RDM", Protocol: "FI_PROTO_EFA"},
		{Provider: "efa", Fabric: "EFA-fe80::c6e:8fff:fef6:e7ff", Domain: "efa_0-rdm", Version: "111.0", Type: "FI_EP_RDM", Protocol: "FI_PROTO_EFA"},
	}
	if diff := cmp.Diff(want, endpoints); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	found, err := efa.ParseDevices([]byte(devices))
	if diff := cmp.Diff([]efa.Device{{Name: "rdmap79s0", State: "ACTIVE"}, {Name: "rdmap80s0", State: "DOWN"}}, found); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	counted, err := efa.ParseCounters([]byte(counters))
	if diff := cmp.Diff(map[string]map[string]uint64{"rdmap79s0": {"rx_drops": 7, "rdma_read_wr_err": 0}}, counted); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// fi_info prints this on a host whose EFA does not work; older versions print no text.
func TestParseNoProvider(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"fi_getinfo: -61\n", "fi_getinfo: -61 (No data available)\n"} {
		_, err := efa.ParseEndpoints([]byte(in))
		if err == nil || err.Error() != "fi_info found no endpoint: "+strings.TrimSpace(in) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing": "", "an error": "fi_getinfo: -61 (No data available)\n", "cut short": libfabric2[:len(libfabric2)-30],
		"no provider": "fabric: efa\n", "a key twice": strings.Replace(p4d, "type:", "domain:", 1), "another key": p4d + "caps: [ ]\n",
	} {
		if got, err := efa.ParseEndpoints([]byte(in)); err == nil {
			t.Errorf("fi_info, %s: %+v", name, got)
		}
	}
	for name, in := range map[string]string{"nothing": "", "an error": "grep: x\n", "a state": strings.Replace(devices, "4: ", "", 1), "a file": counters} {
		if got, err := efa.ParseDevices([]byte(in)); err == nil {
			t.Errorf("devices, %s: %+v", name, got)
		}
	}
	for name, in := range map[string]string{"nothing": "", "no number": strings.Replace(counters, ":7", ":x", 1), "a file": devices} {
		if got, err := efa.ParseCounters([]byte(in)); err == nil {
			t.Errorf("counters, %s: %+v", name, got)
		}
	}
}

func FuzzParseEndpoints(f *testing.F) {
	f.Add([]byte(libfabric2))
	f.Fuzz(func(t *testing.T, data []byte) {
		if endpoints, err := efa.ParseEndpoints(data); err == nil && len(endpoints) == 0 {
			t.Error("no entry, and no error")
		}
	})
}

func FuzzParseFiles(f *testing.F) {
	f.Add([]byte(devices))
	f.Add([]byte(counters))
	f.Fuzz(func(t *testing.T, data []byte) {
		if found, err := efa.ParseDevices(data); err == nil && len(found) == 0 {
			t.Error("no device, and no error")
		}
		if found, err := efa.ParseCounters(data); err == nil && len(found) == 0 {
			t.Error("no counter, and no error")
		}
	})
}
