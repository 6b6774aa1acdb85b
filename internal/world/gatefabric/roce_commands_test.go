package gatefabric

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/fabric/roce"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

// unusable are the programs of the gate's commands that a preflight cannot use on gpu-01; missing is not
// installed there.
func unusable(t *testing.T, b *bench, missing string) string {
	t.Helper()
	var out []string
	for _, c := range roce.New(b.site, b.profile, onhost.Deps{}).HostCommands() {
		if c.Gate != roce.Name || len(c.Hosts) != 2 || len(c.Modules) == 0 {
			t.Errorf("%+v", c)
		}
		printed, err := b.Run(t.Context(), "gpu-01", c.Tried()...)
		if err != nil {
			t.Fatal(err)
		}
		if missing != "" && strings.Contains(strings.Join(c.Tried(), " "), missing) {
			printed = ssh.Output{Exit: 127, Stderr: []byte("sh: 1: " + missing + ": not found\n")}
		}
		if _, err := c.Read(printed); err != nil {
			out = append(out, c.Programs()[0])
		}
	}
	return strings.Join(out, " ")
}

// A preflight can use every command of a healthy host, and finds a program that is missing.
func TestHostCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	for missing, want := range map[string]string{"": "", "grep": "grep", "ip -j": "ip", "ibv_devinfo": "ibv_devinfo", "ethtool": "ethtool", "mlnx_qos": "mlnx_qos"} {
		if got := unusable(t, b, missing); got != want {
			t.Errorf("without %q: %q is unusable, want %q", missing, got, want)
		}
	}
}

// The kernel's own drivers come without mlnx_qos: dcb replaces it. A site that demands nothing of the
// QoS needs neither.
func TestQoSOfOtherDrivers(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	if _, err := b.AddFault(world.Fault{Kind: "inbox-drivers"}); err != nil {
		t.Fatal(err)
	}
	if got := unusable(t, b, ""); got != "" {
		t.Errorf("%s is unusable", got)
	}
	read := 0
	for _, o := range b.observe(t, b) {
		if o.Kind == "qos" {
			read++
		}
		if o.Kind == "qos" && (!strings.Contains(o.Command, "dcb -j pfc show dev enp24s0np0; dcb -j app show dev enp24s0np0") || strings.Contains(o.Command, "mlnx_qos") || o.Err != "") {
			t.Errorf("ran %s: %s", o.Command, o.Err)
		}
	}
	if read != 2 {
		t.Errorf("QoS of %d hosts", read)
	}
	b.site.Fabric.RoCE = &site.RoCE{Priority: new(3), Without: []string{site.WithoutPFC}}
	if got := unusable(t, b, "mlnx_qos"); got != "" {
		t.Errorf("%s is needed, and the site demands nothing of it", got)
	}
}
