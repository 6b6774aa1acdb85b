package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyIMEX = "start the IMEX daemon (systemctl enable --now nvidia-imex) and read /var/log/nvidia-imex.log; where the DRA driver runs the daemons of jobs, declare nvlink.imex: dra in the site"
	// IMEX_CMD_ENABLED and nodes_config.cfg: NVIDIA IMEX Service guide, config options.
	remedyIMEXSeen    = "enable the daemon's command service (IMEX_CMD_ENABLED=1, IMEX_CMD_PORT in /etc/nvidia-imex/config.cfg), restart nvidia-imex, and let the site's user run nvidia-imex-ctl -N -j"
	remedyIMEXVersion = "install the IMEX package of the driver's version (nvidia-imex) and restart nvidia-imex on every node of the NVLink domain"
	remedyIMEXNodes   = "list the nodes of the NVLink domain, and no others, in /etc/nvidia-imex/nodes_config.cfg of each of them, then restart nvidia-imex on all"
	remedyIMEXOther   = "give each of these nodes its address in the IMEX domain in the site (address in inventory.nodes), then run the gate again"
	remedyIMEXPath    = "open the daemon's TCP ports (SERVER_PORT, IMEX_CMD_PORT of /etc/nvidia-imex/config.cfg) between the nodes of the NVLink domain, then restart nvidia-imex on the suspect"
)

// The states of a healthy IMEX domain, as nvidia-imex-ctl prints them.
const (
	imexUp        = "UP"
	imexDegraded  = "DEGRADED"
	imexReady     = "READY"
	imexConnected = "CONNECTED"
)

func imexFigures(out ssh.Output) (any, error) { return nvidia.ParseIMEX(out.Stdout) }

// imexTrial refuses a host that shows no IMEX domain.
func imexTrial(out ssh.Output) (string, error) {
	m, err := nvidia.ParseIMEX(out.Stdout)
	if err == nil && m.Domain == nil {
		err = fmt.Errorf("nvidia-imex-ctl shows no IMEX domain: %.120q", m.Trouble)
	}
	return "", err
}

// imex reports whether each host must have an IMEX daemon. A machine by itself exports no memory.
func (g *Gate) imex() bool {
	return g.profile.MultiNodeNVLink() && !g.site.SingleNode() && g.site.NVLink.OnHost()
}

// judgeIMEX requires one IMEX domain for each NVLink domain: UP, with the nodes of the NVLink domain,
// all of them ready, connected and of the driver's version.
func (g *Gate) judgeIMEX(b *check.Builder, hosts []*host, domains map[*host]string) {
	if !g.profile.MultiNodeNVLink() || g.site.SingleNode() {
		return
	}
	if !g.imex() {
		what := "the DRA driver runs the IMEX daemons of each job"
		if g.site.NVLink.IMEX == site.IMEXNone {
			what = "jobs do not use NVLink between nodes"
		}
		b.Note(hosts[0].latestID(), "nvlink.imex", "", "IMEX is not applicable: the site declares %s, %s", g.site.NVLink.IMEX, what)
		return
	}
	names := newIMEXNames(hosts, g.site.Inventory)
	ready := 0
	for _, name := range slices.Compact(slices.Sorted(maps.Values(domains))) {
		d := &imexDomain{Builder: b, names: names, nvlink: name, failed: map[*host]bool{}, own: map[*host]nvidia.IMEXNode{}}
		for _, h := range hosts {
			if domains[h] == name {
				d.members = append(d.members, h)
			}
		}
		d.judge(domains)
		ready += len(d.own)
	}
	b.Figure(check.Figure{
		Name: "IMEX daemons ready", Value: float64(ready), Unit: "daemons", Relation: "==", Limit: float64(len(hosts)),
		Source: "one on each node of the inventory, whose profile has NVLink between nodes",
	})
}

// imexDomain is the IMEX domain of the hosts of one NVLink domain.
type imexDomain struct {
	*check.Builder
	names   imexNames
	nvlink  string // cluster and clique
	members []*host
	// own are the members whose daemon is ready, each with its own entry in its own report.
	own    map[*host]nvidia.IMEXNode
	failed map[*host]bool
	// unseen are entries that may be of nodes that the run left out as failed; excused: one is not ready.
	unseen  []string
	excused bool
	// others are entries of nodes that another gate judges, unmatched those that may be.
	others, unmatched []string
}

func (d *imexDomain) judge(domains map[*host]string) {
	for _, h := range d.members {
		d.judgeDaemon(h)
	}
	d.judgeNodes(domains)
	d.judgePeers()
	d.judgeVersions()
	d.judgeConnections()
	if i := slices.IndexFunc(d.members, func(h *host) bool { return h.imex.ok() }); len(d.unseen) > 0 && i >= 0 {
		d.Note(d.members[i].imex.obs.ID, d.members[i].name, "", "its IMEX domain has %s: taken for nodes that are not observed, and not judged", check.JoinNames(d.unseen, 4))
	}
	d.judgeOthers()
	for _, h := range d.members {
		m := h.imex.fig.Domain
		switch {
		case m == nil || m.State == imexUp || len(d.failed) > 0:
		case d.excused && m.State == imexDegraded:
			d.Note(h.imex.obs.ID, h.name, "", "its IMEX domain is %s, as nodes that are left out are not ready", m.State)
		default:
			d.fail(h, h, remedyIMEX, "reports its IMEX domain %s, expected %s", m.State, imexUp)
		}
	}
}

// fail fails a member; seen is the host whose report shows it.
func (d *imexDomain) fail(suspect, seen *host, remedy, format string, args ...any) {
	d.failed[suspect] = true
	d.Fail(seen.imex.obs.ID, suspect.name, remedy, format, args...)
}

// judgeDaemon requires that the host's daemon is ready. Where nvidia-imex-ctl prints no domain, the
// unit tells whether a daemon could run.
func (d *imexDomain) judgeDaemon(h *host) {
	m := h.imex.fig
	if !h.imex.ok() {
		return // reported by judgeUnobserved
	}
	if m.Domain == nil {
		switch {
		case m.Daemon != "" && m.Daemon != imexReady:
			d.fail(h, h, remedyIMEX, "its IMEX daemon is %s, expected %s; %s; nvidia-imex-ctl -N shows no domain: %.120q", m.Daemon, imexReady, unitText("nvidia-imex", m.Unit), m.Trouble)
		case m.Unit == nil || m.Unit.Active == "active":
			d.Unobserved(h.imex.obs.ID, h.name, remedyIMEXSeen, "nvidia-imex-ctl shows no IMEX domain: %.120q", m.Trouble)
		default:
			d.fail(h, h, remedyIMEX, "the IMEX daemon does not run: %s; nvidia-imex-ctl: %.120q", unitText("nvidia-imex", m.Unit), m.Trouble)
		}
		return
	}
	for _, n := range m.Domain.Nodes {
		if d.names.host(n.Host) != h {
			continue
		}
		if n.State != imexReady {
			d.fail(h, h, remedyIMEX, "its IMEX daemon is %s, expected %s; %s", n.State, imexReady, unitText("nvidia-imex", m.Unit))
			return
		}
		d.own[h] = n
		return
	}
	d.fail(h, h, remedyIMEXNodes, "its own IMEX domain does not list it (addresses %s)", strings.Join(m.Addresses, ", "))
}

// judgePeers requires that the ready daemons see each other ready.
func (d *imexDomain) judgePeers() {
	for _, h := range d.members {
		if _, ready := d.own[h]; !ready {
			continue
		}
		for _, n := range h.imex.fig.Domain.Nodes {
			switch peer := d.names.host(n.Host); {
			case n.State == imexReady:
			case peer == nil:
				d.excused = d.excused || slices.Contains(d.unseen, n.Host)
			case peer != h && !d.failed[peer]:
				d.fail(peer, h, remedyIMEX, "its IMEX daemon is %s to %s, expected %s", n.State, h.name, imexReady)
			}
		}
	}
}

// judgeVersions requires the driver's version of each daemon, and one version of all. Older daemons
// print the version without its last part.
func (d *imexDomain) judgeVersions() {
	versions := map[*host]string{}
	for _, h := range d.members {
		n, ready := d.own[h]
		doc, seen := h.latest()
		switch {
		case !ready || !seen: // reported already
		case n.Version == "":
			d.Unobserved(h.imex.obs.ID, h.name, remedyIMEXSeen, "its IMEX daemon reports no version")
		case n.Version != doc.log.Driver && !strings.HasPrefix(doc.log.Driver, n.Version+"."):
			d.fail(h, h, remedyIMEXVersion, "its IMEX daemon is %s, expected %s, the driver's version", n.Version, doc.log.Driver)
		default:
			versions[h] = "IMEX " + n.Version
		}
	}
	differs := differing(versions)
	for _, h := range d.members {
		if text := differs[h]; text != "" {
			d.fail(h, h, remedyIMEXVersion, "has %s; %s", versions[h], text)
		}
	}
}
