package sudo

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// paths are the files of the programs in the packages of Debian 12, Ubuntu 24.04, RHEL 9 and of
// the vendor: util-linux, pciutils (on RHEL in /usr/sbin), infiniband-diags, ibutils2 of MLNX_OFED, datacenter-gpu-manager.
var paths = map[string]string{
	"dmesg":         "/usr/bin/dmesg",
	"dcgmi":         "/usr/bin/dcgmi",
	"ibdiagnet":     "/usr/bin/ibdiagnet",
	"iblinkinfo":    "/usr/sbin/iblinkinfo",
	"ibnetdiscover": "/usr/sbin/ibnetdiscover",
	"ibqueryerrors": "/usr/sbin/ibqueryerrors",
	"lspci":         "/usr/bin/lspci",
	"sminfo":        "/usr/sbin/sminfo",
}

// userName is a user as a sudoers file takes it without quotes.
var userName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*\$?$`)

// CheckUser returns an error if a sudoers file does not take the name as it is.
func CheckUser(user string) error {
	if !userName.MatchString(user) {
		return fmt.Errorf("invalid user name %q for a sudoers file: must begin with a letter and have letters, digits, dot, dash and underscore", user)
	}
	return nil
}

// Rule is the line of a sudoers file that lets a user run one command as root, with exactly these
// arguments and without a password. at has the paths of programs that are elsewhere than in
// the packages of distributions.
func Rule(user string, command []string, at map[string]string) (string, error) {
	if err := CheckUser(user); err != nil {
		return "", err
	}
	file := at[command[0]]
	if file == "" {
		file = paths[command[0]]
	}
	if !path.IsAbs(file) {
		return "", fmt.Errorf("path of %s is unknown: it must be absolute", command[0])
	}
	words := []string{escape(file)}
	for _, arg := range command[1:] {
		words = append(words, escape(arg))
	}
	if len(command) == 1 {
		words = append(words, `""`) // no arguments: without this, any are allowed
	}
	return fmt.Sprintf("%s ALL=(root) NOPASSWD: %s", user, strings.Join(words, " ")), nil
}

// escape protects the characters with a meaning in the commands of a sudoers file.
func escape(word string) string {
	return special.ReplaceAllString(word, `\$0`)
}

var special = regexp.MustCompile(`[,:=\\*?\[\]! #^]`)
