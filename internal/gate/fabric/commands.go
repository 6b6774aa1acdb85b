package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
)

// command is one command on a host.
type command struct {
	argv  []string
	parse parser
	// root: the command needs root, to open /dev/infiniband/umad*.
	root bool
	// trial, if set, replaces argv in a preflight.
	trial []string
	// modules are the kernel modules that the program needs.
	modules []string
}

// commands of the gate through a port, by the kind of their observations. ibqueryerrors and iblinkinfo scan the
// whole subnet and ibdiagnet queries every port of it: a preflight does not run them.
func (g *Gate) commands(port site.Via) map[string]command {
	via, diagVia := viaOptions(port)
	commands := map[string]command{
		kindSM: {argv: append([]string{"sminfo"}, via...), root: true, parse: subnetManager, modules: []string{"ib_umad"}},
		// Every nonzero counter: a host's threshold file would hide growth below its thresholds.
		kindCounters: {argv: append([]string{"ibqueryerrors", "--threshold-file", "/dev/null"}, via...), root: true, parse: counters, trial: hostcommand.Installed("ibqueryerrors"), modules: []string{"ib_umad"}},
		kindLinks:    {argv: append([]string{"iblinkinfo", "-l"}, via...), root: true, parse: links, trial: hostcommand.Installed("iblinkinfo"), modules: []string{"ib_umad"}},
		kindDiag:     {argv: append([]string{"ibdiagnet", "-o", diagDir(port), screenOption, strconv.Itoa(screenErrors)}, diagVia...), root: true, parse: diag, trial: hostcommand.Installed("ibdiagnet"), modules: []string{"ib_umad"}},
		kindPorts:    {argv: []string{"ibstat"}, parse: ports, modules: []string{"mlx5_ib"}},
		kindVerbs:    {argv: verbsCommand(g.site.Fabric.HCAs), parse: details, modules: []string{"mlx5_ib", "ib_uverbs"}},
	}
	if g.site.Fabric.Design != "" {
		commands[kindNet] = command{argv: append([]string{"ibnetdiscover"}, via...), root: true, parse: wiring, trial: hostcommand.Installed("ibnetdiscover"), modules: []string{"ib_umad"}}
	}
	return commands
}

// diagDir is the directory of ibdiagnet's files. By default they replace those of the last run of another program in
// /var/tmp/ibdiagnet2. Subnets are observed at the same time: each has a directory of its own. It does not depend on the
// run, because a rule of sudoers has the whole command.
func diagDir(v site.Via) string {
	const dir = "/var/tmp/firstlight-ibdiagnet"
	if v.HCA != "" {
		return fmt.Sprintf("%s-%s-%d", dir, v.HCA, v.Port)
	}
	return dir
}

// argv is the command line of a command on the site's hosts.
func (g *Gate) argv(c command) []string {
	if c.root {
		return sudo.Argv(g.site.Reach.SSH, c.argv)
	}
	return c.argv
}

// RootCommands are the commands that need root, through each port that a host may take.
func (g *Gate) RootCommands() [][]string {
	var out [][]string
	for _, v := range g.via {
		commands := g.commands(v)
		for _, kind := range slices.Sorted(maps.Keys(commands)) {
			if c := commands[kind]; c.root {
				out = append(out, c.argv)
			}
		}
	}
	return out
}

// HostCommands are the commands of Observe, for a preflight: through the first port.
func (g *Gate) HostCommands() []hostcommand.Command {
	var nodes []string
	for _, n := range g.site.Inventory.Nodes {
		nodes = append(nodes, n.Name)
	}
	fabricHost := []string{g.site.Reach.SSH.FabricHost}
	on := map[string][]string{
		kindSM: g.smHosts(), kindCounters: fabricHost, kindLinks: fabricHost, kindDiag: fabricHost, kindNet: fabricHost, kindPorts: nodes, kindVerbs: nodes,
	}
	commands := g.commands(g.via[0])
	var out []hostcommand.Command
	for _, kind := range slices.Sorted(maps.Keys(commands)) {
		c := commands[kind]
		h := hostcommand.Command{Gate: Name, Hosts: on[kind], Argv: c.argv, Trial: c.trial, Modules: c.modules, Read: c.readTrial}
		if c.root {
			out = append(out, h.AsRoot(g.site.Reach.SSH)...)
		} else {
			out = append(out, h)
		}
	}
	return out
}

// readTrial refuses an output that the gate could not read, or that shows that a program was not
// found.
func (c command) readTrial(out ssh.Output) (version string, err error) {
	if c.trial == nil {
		_, err = c.parse(out)
		return "", err
	}
	if out.Exit != 0 {
		return "", errors.New("the program was not found")
	}
	return "", nil
}

// parser returns the figures of a command's output. Exit code 0 proves nothing, but an
// unexplained exit code means that output may be missing.
type parser func(ssh.Output) (any, error)

func subnetManager(out ssh.Output) (any, error) {
	info, err := infiniband.ParseSMInfo(append(append([]byte(nil), out.Stdout...), out.Stderr...))
	if err == nil && info.Answered {
		err = complete(out, out.Exit == 0)
	}
	return info, err
}

// counters: ibqueryerrors exits 1 if a port has errors. Failed queries are judged, except those that its summary does not
// count: nodes behind them may be missing.
func counters(out ssh.Output) (any, error) {
	r, err := infiniband.ParseQueryErrors(out.Stdout)
	if err != nil && len(out.Stderr) > 0 { // without a subnet manager it exits 0 with its reason there
		return nil, fmt.Errorf("%w (%.200s)", err, bytes.TrimSpace(out.Stderr))
	}
	if err != nil {
		return nil, err
	}
	if len(r.Warnings) > 0 {
		return nil, fmt.Errorf("nodes may be missing: %.200s", r.Warnings[0])
	}
	r.CountUnanswered(out.Stderr)
	if r.QueryFailures > 0 {
		out.Stderr = infiniband.WithoutUnanswered(out.Stderr)
	}
	return r, complete(out, out.Exit == 0 || out.Exit == 1 && len(r.Ports) > 0)
}

func links(out ssh.Output) (any, error) {
	ports, err := infiniband.ParseLinkInfo(out.Stdout)
	if err == nil {
		err = complete(out, out.Exit == 0)
	}
	return ports, err
}

// diag: ibdiagnet may exit with any code if a stage has errors, which are judged.
func diag(out ssh.Output) (any, error) {
	r, err := infiniband.ParseDiagnet(out.Stdout)
	if err == nil && !slices.ContainsFunc(r.Stages, func(s infiniband.DiagnetStage) bool { return s.Errors > 0 }) {
		err = complete(out, out.Exit == 0)
	}
	return r, err
}

func ports(out ssh.Output) (any, error) {
	adapters, err := infiniband.ParseStat(out.Stdout)
	if err == nil {
		err = complete(out, out.Exit == 0)
	}
	return adapters, err
}

// verbsFigures are the details of a host's adapters that ibstat does not print.
type verbsFigures struct {
	Devices []infiniband.Device `json:"devices"`
	// Tables are the non-empty P_Key tables.
	Tables []infiniband.PKeyTable `json:"tables"`
}

// verbsCommand is ibv_devinfo and the P_Key tables of the adapters, in one command since a
// site may have thousands of hosts. Each adapter is named: without -d, ibv_devinfo fails if
// any other device of the host fails. grep -v omits unset entries.
func verbsCommand(hcas []string) []string {
	var steps []string
	grep := []string{"grep", "-rHvx", "0x0000"}
	for _, name := range hcas {
		steps = append(steps, ssh.Quote([]string{"ibv_devinfo", "-d", name}))
		grep = append(grep, infiniband.PKeyDir(name, firstPort))
	}
	return []string{"sh", "-c", strings.Join(append(steps, ssh.Quote(grep)), " && ")}
}

// firstPort is the adapter's port on the fabric. mlx5 devices have one port, older ones may have two.
const firstPort = 1

func details(out ssh.Output) (any, error) {
	var devices, tables bytes.Buffer
	for line := range bytes.Lines(out.Stdout) {
		if bytes.HasPrefix(line, []byte(infiniband.SysfsRoot)) {
			tables.Write(line)
		} else {
			devices.Write(line)
		}
	}
	var f verbsFigures
	var err error
	if f.Devices, err = infiniband.ParseDevInfo(devices.Bytes()); err != nil {
		return nil, err
	}
	if err := complete(out, out.Exit == 0); err != nil {
		return nil, err
	}
	f.Tables, err = infiniband.ParsePKeys(tables.Bytes())
	return f, err
}

// complaint matches the messages of the tools and their libraries on stderr about a missing
// answer. Other lines are from the shell or SSH.
var complaint = regexp.MustCompile(`ibwarn:|ibpanic:|iberror:|mad_rpc|bad status|timed out`)

// complete returns an error if the output may be incomplete: the exit code has no known reason
// (expected is false), or stderr has a complaint.
func complete(out ssh.Output, expected bool) error {
	for line := range bytes.Lines(out.Stderr) {
		if complaint.Match(line) {
			return fmt.Errorf("output may be incomplete, a query was not answered: %.200s", bytes.TrimSpace(line))
		}
	}
	if !expected {
		return errors.New("output may be incomplete: the tool failed")
	}
	return nil
}
