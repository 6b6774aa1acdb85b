package site

// Sudo is the value of SSH.Become.
const Sudo = "sudo"

// SSH is how to log in to hosts. A key that is set here is used instead of the same option of
// ConfigFile, as the flags of ssh are.
type SSH struct {
	// User to log in as; empty: that of ConfigFile.
	User string `yaml:"user,omitempty" json:"user,omitempty"`
	// IdentityFile is a private key, encrypted or not; IdentityFiles are several, tried in
	// order. Without any, here and in ConfigFile, the keys of ssh-agent are tried.
	IdentityFile  string   `yaml:"identityFile,omitempty" json:"identityFile,omitempty"`
	IdentityFiles []string `yaml:"identityFiles,omitempty" json:"identityFiles,omitempty"`
	// CertificateFiles are OpenSSH certificates of the identities, in addition to KEY-cert.pub
	// in the directory of each.
	CertificateFiles []string `yaml:"certificateFiles,omitempty" json:"certificateFiles,omitempty"`
	// PassphraseFile has the passphrase of encrypted identities; empty: ssh-agent, or a prompt
	// on a terminal.
	PassphraseFile string `yaml:"passphraseFile,omitempty" json:"passphraseFile,omitempty"`
	// KnownHostsFile has the host keys; empty: those of ConfigFile.
	KnownHostsFile string `yaml:"knownHostsFile,omitempty" json:"knownHostsFile,omitempty"`
	// ConfigFile is an ssh_config; empty: none is read.
	ConfigFile string `yaml:"configFile,omitempty" json:"configFile,omitempty"`
	// Become is Sudo if commands that need root are run with sudo; empty: as they are.
	Become string `yaml:"become,omitempty" json:"become,omitempty"`
	// Concurrency is the largest number of connections to hosts, and of hosts that run commands.
	Concurrency int `yaml:"concurrency,omitempty" json:"concurrency,omitempty"`
	// ConnectTimeout limits connect, jumps, handshake and login together.
	ConnectTimeout Duration `yaml:"connectTimeout,omitempty" json:"connectTimeout,omitempty"`
	// Timeout limits each command.
	Timeout Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// FabricHost is the node that sminfo, iblinkinfo, ibqueryerrors and
	// ibdiagnet run on; empty means the first GPU node.
	FabricHost string `yaml:"fabricHost,omitempty" json:"fabricHost,omitempty"`
}

// Identities are the private keys that the site names.
func (s SSH) Identities() []string {
	if s.IdentityFile != "" {
		return []string{s.IdentityFile}
	}
	return s.IdentityFiles
}

// files are the paths in s, to be resolved.
func (s *SSH) files() []*string {
	out := []*string{&s.IdentityFile, &s.PassphraseFile, &s.KnownHostsFile, &s.ConfigFile}
	for _, list := range [][]string{s.IdentityFiles, s.CertificateFiles} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}
