package roce_test

import (
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/roce"
)

const addresses = `[{"ifindex":1,"ifname":"lo","mtu":65536,"operstate":"UNKNOWN","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host"}]},{},
{"ifindex":4,"ifname":"enp24s0np0","mtu":9000,"operstate":"UP","addr_info":[{"family":"inet","local":"10.100.0.1","prefixlen":16,"scope":"global"},
{"family":"inet6","local":"fd00::1","prefixlen":64,"scope":"global"},{"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]}]`

func TestParseLinks(t *testing.T) {
	t.Parallel()
	got, err := roce.ParseLinks([]byte(addresses))
	want := []roce.Link{
		{Name: "lo", MTU: 65536},
		{Name: "enp24s0np0", MTU: 9000, Addresses: []string{"10.100.0.1", "fd00::1"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, in := range map[string]string{"nothing": "", "no device": "[]", "text": "1: lo: <LOOPBACK>", "cut short": addresses[:80], "an address": strings.Replace(addresses, "10.100.0.1", "10.100.0", 1)} {
		if got, err := roce.ParseLinks([]byte(in)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

// The real ip prints what the kernel tells net.Interfaces.
func TestParseLinksOfThisMachine(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("no program ip (iproute2)")
	}
	out, err := exec.CommandContext(t.Context(), program, "-j", "addr", "show").Output()
	if err != nil {
		t.Fatal(err)
	}
	links, err := roce.ParseLinks(out)
	if err != nil {
		t.Fatal(err)
	}
	own, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range own {
		if !slices.ContainsFunc(links, func(l roce.Link) bool { return l.Name == n.Name && l.MTU == n.MTU }) {
			t.Errorf("%s with MTU %d is not among %+v", n.Name, n.MTU, links)
		}
	}
}

func FuzzParseLinks(f *testing.F) {
	f.Add([]byte(addresses))
	f.Fuzz(func(t *testing.T, data []byte) {
		if links, err := roce.ParseLinks(data); err == nil && len(links) == 0 {
			t.Error("no device, and no error")
		}
	})
}
