package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/infiniband"

	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// parser makes figures of a command's output. An exit code of 0 proves nothing,
// but one that the tool has no reason for says that something is missing.
type parser func(ssh.Output) (any, error)

func subnetManager(out ssh.Output) (any, error) {
	info, err := infiniband.ParseSMInfo(append(append([]byte(nil), out.Stdout...), out.Stderr...))
	if err == nil && info.Answered {
		err = whole(out, out.Exit == 0)
	}
	return info, err
}

// counters exits 1 when a port has errors. Queries that failed are judged.
func counters(out ssh.Output) (any, error) {
	r, err := infiniband.ParseQueryErrors(out.Stdout)
	if err == nil && r.QueryFailures == 0 {
		if len(r.Warnings) > 0 {
			return nil, fmt.Errorf("nodes may be missing: %.200s", r.Warnings[0])
		}
		err = whole(out, out.Exit == 0 || out.Exit == 1 && len(r.Ports) > 0)
	}
	return r, err
}

func links(out ssh.Output) (any, error) {
	ports, err := infiniband.ParseLinkInfo(out.Stdout)
	if err == nil {
		err = whole(out, out.Exit == 0)
	}
	return ports, err
}

// diag may exit with any code when a stage has errors: they are judged.
func diag(out ssh.Output) (any, error) {
	r, err := infiniband.ParseDiagnet(out.Stdout)
	if err == nil && !slices.ContainsFunc(r.Stages, func(s infiniband.DiagnetStage) bool { return s.Errors > 0 }) {
		err = whole(out, out.Exit == 0)
	}
	return r, err
}

func ports(out ssh.Output) (any, error) {
	adapters, err := infiniband.ParseStat(out.Stdout)
	if err == nil {
		err = whole(out, out.Exit == 0)
	}
	return adapters, err
}

// verbsFigures are what one command on a host shows of its adapters beyond ibstat.
type verbsFigures struct {
	Devices []infiniband.Device `json:"devices"`
	// Tables has each P_Key table that holds a key.
	Tables []infiniband.PKeyTable `json:"tables"`
}

// verbsCommand is ibv_devinfo and the P_Key tables of the adapters, in one command since
// a site may have thousands of hosts. Each adapter is named: without -d, ibv_devinfo fails
// where any other device of the host does. grep -v leaves out the entries that are not set.
func verbsCommand(hcas []string) []string {
	var steps []string
	grep := []string{"grep", "-rHvx", "0x0000"}
	for _, name := range hcas {
		steps = append(steps, ssh.Quote([]string{"ibv_devinfo", "-d", name}))
		grep = append(grep, infiniband.PKeyDir(name, firstPort))
	}
	return []string{"sh", "-c", strings.Join(append(steps, ssh.Quote(grep)), " && ")}
}

// firstPort is the port of an adapter that the fabric is at: mlx5 devices have one.
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
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if err := whole(out, out.Exit == 0); err != nil {
		return nil, err
	}
	f.Tables, err = infiniband.ParsePKeys(tables.Bytes())
	return f, err
}

// complaint is how the tools and the libraries below them say on stderr that
// something did not answer. What else is there is of the shell or of SSH.
var complaint = regexp.MustCompile(`ibwarn:|ibpanic:|iberror:|mad_rpc|bad status|timed out`)

// whole is nil when the tool saw all that there is: its exit code is one that
// it has a reason for, and it complains of nothing.
func whole(out ssh.Output, exit bool) error {
	for line := range bytes.Lines(out.Stderr) {
		if complaint.Match(line) {
			return fmt.Errorf("something did not answer, so the output may not be whole: %.200s", bytes.TrimSpace(line))
		}
	}
	if !exit {
		return errors.New("the tool failed, so the output may not be whole")
	}
	return nil
}
