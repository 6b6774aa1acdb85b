package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/detect"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Hosts runs commands on the hosts of a target.
type Hosts interface {
	gate.Hosts
	// Dial opens a TCP connection from a host to an address.
	Dial(ctx context.Context, host, address string) (net.Conn, error)
	// Keys are the fingerprints of the hosts' SSH keys, by host.
	Keys() map[string]string
	Close() error
}

// thisMachine are the Hosts of a site of one machine: no connections, and so no keys.
type thisMachine struct{ localhost.Hosts }

func (thisMachine) Dial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("this machine has no forwarded connections")
}
func (thisMachine) Keys() map[string]string { return nil }
func (thisMachine) Close() error            { return nil }

// AddSpine adds the flag for another spine than that of the lab's site, and permits sites without Kubernetes.
func (f *TargetFlags) AddSpine(cmd *cobra.Command) {
	f.machines = true
	AddSpineFlag(cmd, &f.spine)
	for _, other := range []string{"kubeconfig", "context", "lab", "stack"} {
		cmd.MarkFlagsMutuallyExclusive("spine", other)
	}
}

// AddSpineFlag adds the flag --spine.
func AddSpineFlag(cmd *cobra.Command, spine *string) {
	cmd.Flags().StringVar(spine, "spine", "", "single-node: this machine, without Kubernetes and without a site file; slurm: the Slurm cluster of --site; ray: the RayCluster of --site, or of the lab; k3s: the k3s cluster of --site, or a k3s lab (default: that of the site file)")
	CompleteFlag(cmd, "spine", []string{site.SpineSingleNode, site.SpineSlurm, site.SpineRay, site.SpineK3s})
}

// CheckSpine refuses spines that --spine cannot select, and a site file for this machine.
func CheckSpine(spine, siteFile string) error {
	switch {
	case spine == "" || slices.Contains([]string{site.SpineSlurm, site.SpineRay, site.SpineK3s}, spine):
		return nil
	case spine != site.SpineSingleNode:
		return UsageErrorf("unknown --spine %q: want %s, %s, %s or %s; a site file (--site) has the other spines", spine, site.SpineSingleNode, site.SpineSlurm, site.SpineRay, site.SpineK3s)
	case siteFile != "":
		return UsageErrorf("--spine %s is this machine without a site file: remove --spine, or --site", spine)
	default:
		return nil
	}
}

// requireSpine refuses a site of another spine than that of --spine.
func requireSpine(s *site.Site, spine string) error {
	if spine != "" && s.Spine != spine {
		return UsageErrorf("the site has spine %s, --spine is %s", s.Spine, spine)
	}
	return nil
}

// loginEnvironment are the variables that Slurm's commands inherit on this machine, as those of a login over SSH: sbatch
// gives its environment to the job, where a secret would be stored and an option of another program would change it.
var loginEnvironment = []string{"HOME", "KRB5CCNAME", "LANG", "LD_LIBRARY_PATH", "LOGNAME", "MODULEPATH", "PATH", "SHELL", "SLURM_CONF", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR"}

// withLogin runs the commands of Slurm's login host on this machine, and others over SSH.
type withLogin struct {
	Hosts
	login localhost.Hosts
}

// Run implements Hosts.
func (h withLogin) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if host == h.login.Name {
		return h.login.Run(ctx, host, argv...)
	}
	return h.Hosts.Run(ctx, host, argv...)
}

// detectTimeout limits nvidia-smi, which takes seconds on a machine with a broken GPU.
const detectTimeout = 2 * time.Minute

// ThisMachine is the site file of this machine with its profile. A machine that it cannot be written for
// is an error.
func ThisMachine(ctx context.Context) ([]byte, *profile.Profile, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, nil, Unobserved(fmt.Errorf("find the name of this machine: %w", err))
	}
	hosts := localhost.Hosts{Name: name, Timeout: detectTimeout}
	p, err := detect.Machine(ctx, func(ctx context.Context, argv ...string) (ssh.Output, error) { return hosts.Run(ctx, name, argv...) })
	if err != nil {
		return nil, nil, Unobserved(err)
	}
	return site.SingleNodeFile(name, p), p, nil
}

// openThisMachine uses this machine, without a site file.
func (t *Target) openThisMachine(ctx context.Context) error {
	file, _, err := ThisMachine(ctx)
	if err != nil {
		return err
	}
	t.SiteFile = file
	if t.Site, err = site.Parse(site.SpineSingleNode, file); err != nil {
		return Unobserved(err)
	}
	return Unobserved(t.loadProfile())
}

// openMachine makes the machine of the site, which must be this one, the target's only host.
func (t *Target) openMachine() error {
	name, err := os.Hostname()
	if err != nil {
		return Unobserved(fmt.Errorf("find the name of this machine: %w", err))
	}
	if !t.Site.OnMachine(name) {
		return UsageErrorf("inventory.nodes of the site is %s, this machine is %s: spine single-node observes the machine that firstlight runs on", t.Site.Inventory.Nodes[0].Name, name)
	}
	t.Hosts = thisMachine{localhost.Hosts{Name: t.Site.Inventory.Nodes[0].Name, Timeout: t.Site.Reach.SSH.Timeout.D()}}
	return nil
}

// identifyMachine identifies this machine, for a target without a cluster.
func identifyMachine() (localhost.Machine, error) { return localhost.Identify("/") }

// OpenSpine is OpenSite for a site of one spine.
func OpenSpine(ctx context.Context, path, spine string) (*site.Site, *profile.Profile, error) {
	s, p, err := OpenSite(ctx, path)
	if err == nil {
		err = requireSpine(s, spine)
	}
	return s, p, err
}
