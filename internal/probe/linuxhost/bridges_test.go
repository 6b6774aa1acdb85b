package linuxhost_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

// bridges are a switch with two ports below a root port, in the format of pciutils (lspci.c, ls-caps.c, ls-ecaps.c):
// 3.7 prints "MSI 00", 3.10 "IntMsgNum 0".
const bridges = `0000:15:01.0 PCI bridge: Intel Corporation Device 352a (rev 30) (prog-if 00 [Normal decode])
	Control: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR+ FastB2B- DisINTx+
	Bus: primary=15, secondary=16, subordinate=1b, sec-latency=0
	Secondary status: 66MHz- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort+ <SERR- <PERR-
	Capabilities: [40] Express (v2) Root Port (Slot+), MSI 00
		DevCap:	MaxPayload 512 bytes, PhantFunc 0
	Capabilities: [110 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
	Kernel driver in use: pcieport

0000:16:00.0 PCI bridge: Broadcom / LSI Device c030 (rev b0) (prog-if 00 [Normal decode])
	Bus: primary=16, secondary=17, subordinate=1b, sec-latency=0
	Capabilities: [68] Express (v2) Upstream Port, IntMsgNum 0

0000:17:00.0 PCI bridge: Broadcom / LSI Device c030 (rev b0) (prog-if 00 [Normal decode])
	Bus: primary=17, secondary=18, subordinate=18, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), IntMsgNum 0
	Capabilities: [f24 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-

0000:17:01.0 PCI bridge: Broadcom / LSI Device c030 (rev b0) (prog-if 00 [Normal decode])
	Bus: primary=17, secondary=1b, subordinate=1b, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), IntMsgNum 0
	Capabilities: [f24 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

0000:80:01.0 PCI bridge: Intel Corporation Device 352a (rev 30) (prog-if 00 [Normal decode])
	Bus: primary=80, secondary=00, subordinate=00, sec-latency=0
	Capabilities: <access denied>
`

func TestParseBridges(t *testing.T) {
	t.Parallel()
	got, err := linuxhost.ParseBridges([]byte(bridges))
	want := []linuxhost.Bridge{
		{Address: "0000:15:01.0", First: 0x16, Last: 0x1b, Redirects: []string{"ReqRedir", "CmpltRedir"}},
		{Address: "0000:16:00.0", First: 0x17, Last: 0x1b, Port: linuxhost.UpstreamPort},
		{Address: "0000:17:00.0", First: 0x18, Last: 0x18, Port: linuxhost.DownstreamPort},
		{Address: "0000:17:01.0", First: 0x1b, Last: 0x1b, Port: linuxhost.DownstreamPort, Redirects: []string{"ReqRedir", "CmpltRedir"}},
		{Address: "0000:80:01.0", Denied: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":      {"", "no bridge is listed"},
		"a message":    {"lspci: Cannot open /sys/bus/pci/devices\n", "unexpected line"},
		"no buses":     {strings.Replace(bridges, "\tBus: primary=16", "\tOther: primary=16", 1), "0000:16:00.0 has no line of its buses"},
		"no UTF-8":     {bridges + "\xff", "UTF-8"},
		"another line": {bridges + "pcilib: x\n", "unexpected line"},
	} {
		if _, err := linuxhost.ParseBridges([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// The switch of a device has the ports of its neighbours, and no root port.
func TestSwitchOf(t *testing.T) {
	t.Parallel()
	all, err := linuxhost.ParseBridges([]byte(bridges))
	if err != nil {
		t.Fatal(err)
	}
	for device, want := range map[string][]string{
		"0000:1b:00.0":     {"0000:16:00.0", "0000:17:00.0", "0000:17:01.0"},
		"0000:18:00.0":     {"0000:16:00.0", "0000:17:00.0", "0000:17:01.0"},
		"0000:16:00.0":     nil,
		"0000:81:00.0":     nil,
		"0001:1b:00.0":     nil,
		"":                 nil,
		"0000:not:a:bus.0": nil,
	} {
		var got []string
		for _, b := range linuxhost.SwitchOf(all, device) {
			got = append(got, b.Address)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", device, got, want)
		}
	}
}

func FuzzParseBridges(f *testing.F) {
	f.Add([]byte(bridges))
	f.Fuzz(func(_ *testing.T, data []byte) {
		found, _ := linuxhost.ParseBridges(data) // nothing panics: guard would say so
		linuxhost.SwitchOf(found, "0000:1b:00.0")
	})
}
