package snapshot

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Releases are /etc/os-release of images of the providers.
const (
	ubuntu2404 = `PRETTY_NAME="Ubuntu 24.04.1 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.1 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
SUPPORT_URL="https://help.ubuntu.com/"
BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/"
PRIVACY_POLICY_URL="https://www.ubuntu.com/legal/terms-and-policies/privacy-policy"
UBUNTU_CODENAME=noble
LOGO=ubuntu-logo
`
	amazon2023 = `NAME="Amazon Linux"
VERSION="2023"
ID="amzn"
ID_LIKE="fedora"
VERSION_ID="2023"
PLATFORM_ID="platform:al2023"
PRETTY_NAME="Amazon Linux 2023.5.20240805"
ANSI_COLOR="0;33"
CPE_NAME="cpe:2.3:o:amazon:amazon_linux:2023"
HOME_URL="https://aws.amazon.com/linux/amazon-linux-2023/"
VENDOR_NAME="AWS"
SUPPORT_END="2028-03-15"
`
	cos117 = `NAME="Container-Optimized OS"
ID=cos
PRETTY_NAME="Container-Optimized OS from Google"
HOME_URL="https://cloud.google.com/container-optimized-os/docs"
BUG_REPORT_URL="https://cloud.google.com/container-optimized-os/docs/resources/support-policy#contact_us"
GOOGLE_METRICS_PRODUCT_ID=26
KERNEL_COMMIT_ID=1e46b2b8c1b8a7d4dcf3f0c9a5bf6a9cdfc8a9a1
GOOGLE_CRASH_ID=Lakitu
VERSION=117
VERSION_ID=117
BUILD_ID=18613.164.4
`
)

func TestParseRelease(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, id, version, wrong string }{
		"Ubuntu":                 {text: ubuntu2404, id: "ubuntu", version: "24.04"},
		"Amazon Linux":           {text: amazon2023, id: "amzn", version: "2023"},
		"Container-Optimized OS": {text: cos117, id: "cos", version: "117"},
		"single quotes":          {text: "ID='sled'\n# ID=other\n\nVERSION_ID='15.6'\n", id: "sled", version: "15.6"},
		"escapes":                {text: `ID=rhel` + "\n" + `VERSION_ID="9\"4"`, id: "rhel", version: `9"4`},
		"nothing":                {wrong: "no ID"},
		"not a file":             {text: "cat: /host/etc/os-release: No such file or directory\n", wrong: "must be KEY=VALUE"},
		"open quote":             {text: "ID=\"ubuntu\nVERSION_ID=1\n", wrong: "no closing quote"},
		"two words":              {text: "ID=ubuntu linux\n", wrong: "unquoted"},
		"expansion":              {text: "ID=$(id)\n", wrong: "unquoted"},
		"contradiction":          {text: "ID=ubuntu\nID=rhel\n", wrong: "both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseRelease(tt.text)
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil || got["ID"] != tt.id || got["VERSION_ID"] != tt.version {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	const release = logRelease + "\n" + ubuntu2404
	for name, tt := range map[string]struct{ log, wrong string }{
		"complete":              {log: logBegin + "\n" + release + logEnd + "\n"},
		"empty":                 {wrong: "must begin"},
		"without its beginning": {log: release + logEnd + "\n", wrong: "must begin"},
		"without its end":       {log: logBegin + "\n" + release, wrong: "must end"},
		"cut in the end":        {log: logBegin + "\n" + release + logEnd, wrong: "must end"},
		"without the section":   {log: logBegin + "\n" + logEnd + "\n", wrong: "no ID"},
		"a section twice":       {log: logBegin + "\n" + release + release + logEnd + "\n", wrong: "twice"},
		"text before a section": {log: logBegin + "\nwarning\n" + release + logEnd + "\n", wrong: "unexpected line"},
	} {
		got, err := parseAnswer([]byte(tt.log), request{release: true})
		switch {
		case tt.wrong == "" && (err != nil || got.Release["ID"] != "ubuntu"):
			t.Errorf("%s: %+v, %v", name, got, err)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: error %v, want %q", name, err, tt.wrong)
		}
	}
	log := logBegin + "\n" + logSMI + "\n/bin/sh: 4: nvidia-smi: not found\n" + logEnd + "\n"
	if _, err := parseAnswer([]byte(log), request{gpu: true}); err == nil || !strings.Contains(err.Error(), "nvidia-smi") {
		t.Errorf("without nvidia-smi: %v", err)
	}
}

// Values that the API has are not read by a pod.
func TestAgentsReadOnlyWhatTheAPIDoesNotTell(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(d *Demand, n *Node)
		want  *request
	}{
		"labels tell everything": {spoil: func(*Demand, *Node) {}},
		"the model is a constraint, and the device plugin has the GPUs": {
			spoil: func(d *Demand, _ *Node) { d.Constraints[0].Name = modelPath.String() }, want: &request{node: "gpu-2", gpu: true},
		},
		"no label of the operating system": {spoil: func(_ *Demand, n *Node) { delete(n.Labels, releaseLabel+"ID") }, want: &request{node: "gpu-2", release: true}},
		"no label of the operating system, and no constraint": {spoil: func(d *Demand, n *Node) {
			delete(n.Labels, releaseLabel+"ID")
			d.Constraints = nil
		}},
		"no label of the product": {spoil: func(_ *Demand, n *Node) { delete(n.Labels, productLabel) }, want: &request{node: "gpu-2", gpu: true}},
		"no label, and no GPU": {spoil: func(_ *Demand, n *Node) {
			delete(n.Labels, driverLabel)
			n.Allocatable = 0
		}},
		"not Ready": {spoil: func(_ *Demand, n *Node) {
			n.Ready = false
			delete(n.Labels, releaseLabel+"ID")
		}},
		"not of the inventory": {spoil: func(d *Demand, n *Node) {
			d.Nodes = d.Nodes[:1]
			delete(n.Labels, releaseLabel+"ID")
		}},
	} {
		d := demand()
		_, nodes := cluster()
		n := nodes[1]
		n.Labels = maps.Clone(n.Labels)
		tt.spoil(&d, &n)
		var want []request
		if tt.want != nil {
			want = []request{*tt.want}
		}
		if diff := cmp.Diff(want, New(d, Deps{}).requests([]Node{n}, nil), cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
