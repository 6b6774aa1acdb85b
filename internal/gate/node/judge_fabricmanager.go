package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

const (
	remedyManager        = "start the fabric manager (systemctl enable --now nvidia-fabricmanager; with a containerised driver, restart the driver pod of the node) and read /var/log/fabricmanager.log; then reset the GPUs of the node together"
	remedyManagerVersion = "install the fabric manager of the driver's version (package nvidia-fabricmanager) and restart nvidia-fabricmanager"
	remedyManagerSeen    = "let the site's user see systemd's units or all processes (mount option hidepid of /proc), then run the gate again"
)

// switches reports whether nodes have NVSwitches of their own, whose fabric manager must run on
// the host. Where a domain has several nodes, it runs on the switches.
func (g *Gate) switches() bool {
	domain := g.profile.Node.NVLinkDomain
	return domain != nil && domain.Value == 1
}

func fabricManager(out ssh.Output) (any, error) { return nvidia.ParseFabricManager(out.Stdout) }

// managerVersion refuses a host that shows nothing of its fabric manager.
func managerVersion(out ssh.Output) (string, error) {
	m, err := nvidia.ParseFabricManager(out.Stdout)
	if err == nil && m.Unit == nil && m.Processes == nil {
		err = errors.New("neither systemd nor /proc shows whether the fabric manager runs")
	}
	return m.Version, err
}

// judgeFabricManager requires that the fabric manager runs and has the version of the driver. GPUs
// that have joined the fabric stay in it without the manager, until a link or a GPU fails.
func (g *Gate) judgeFabricManager(b *check.Builder, h *host) {
	if !g.switches() || !h.manager.ok() {
		return // reported by judgeUnobserved
	}
	id, m := h.manager.obs.ID, h.manager.fig
	running := m.Unit != nil && m.Unit.Active == "active" && m.Unit.Sub == "running"
	switch {
	case m.Unit != nil && strings.HasSuffix(m.Unit.Active, "ing"): // a manager that crashes again and again is seen between
		b.Fail(id, h.name, remedyManager, "the fabric manager does not stay up: %s", unitState(m.Unit))
	case m.Processes != nil && *m.Processes > 0:
	case running && m.Processes != nil:
		b.Unobserved(id, h.name, remedyManagerSeen, "whether the fabric manager runs is unknown: systemd reports it running, and no process nv-fabricmanager is found")
	case running:
	case m.Processes == nil:
		b.Unobserved(id, h.name, remedyManagerSeen, "whether the fabric manager runs is unknown: %s, and the host's processes are hidden", unitState(m.Unit))
	case m.Version == "" && (m.Unit == nil || m.Unit.Load != "loaded") && h.joinedFabric():
		b.Note(id, h.name, "check with the provider that a service VM manages the NVSwitches", "has no fabric manager, and its GPUs have joined the NVLink fabric: the manager runs elsewhere, and is not judged")
		return
	default:
		b.Fail(id, h.name, remedyManager, "the fabric manager does not run: %s, and no process nv-fabricmanager is found", unitState(m.Unit))
	}
	g.judgeManagerVersion(b, h, m)
}

// joinedFabric reports whether every GPU has joined the NVLink fabric, which a fabric manager has let
// it do since the machine started.
func (h *host) joinedFabric() bool {
	doc, ok := h.latest()
	return ok && len(doc.log.GPUs) > 0 && !slices.ContainsFunc(doc.log.GPUs, func(g nvidia.GPU) bool { return g.FabricState != "Completed" || g.FabricStatus != "Success" })
}

// judgeManagerVersion compares the version of the host's own fabric manager with the driver's. A
// program without an active unit is not what runs: the manager is in a container, with its driver.
func (g *Gate) judgeManagerVersion(b *check.Builder, h *host, m nvidia.FabricManager) {
	id := h.manager.obs.ID
	doc, ok := h.latest()
	switch own := m.Unit == nil || m.Unit.Load == "loaded" && m.Unit.Active != "inactive"; {
	case m.Version == "":
		b.Note(id, h.name, "", "has no program nv-fabricmanager: the version of the fabric manager is not compared with the driver's")
	case own && ok && doc.log.Driver != m.Version:
		b.Fail(id, h.name, remedyManagerVersion, "the fabric manager is %s, expected %s, the driver's version: it refuses another driver and will not start at the next boot", m.Version, doc.log.Driver)
	}
}

func unitState(u *nvidia.Unit) string { return unitText("nvidia-fabricmanager", u) }

// unitText describes the state of a unit.
func unitText(name string, u *nvidia.Unit) string {
	switch {
	case u == nil:
		return "systemd does not answer"
	case u.Load != "loaded":
		return "the unit " + name + " is " + u.Load
	default:
		return fmt.Sprintf("the unit %s is %s (%s)", name, u.Active, u.Sub)
	}
}
