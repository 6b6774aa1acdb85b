package accept

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/site"
)

func newSudoers(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sudoers",
		Short: "Print the sudoers file that accept needs on the hosts",
		Long: `Print the sudoers file that lets the SSH user of a site with reach.ssh.become run the
commands of the selected gates that need root, with exactly their arguments and without a
password. An administrator installs it on every host. All other commands run as the user.`,
		Example: `  # Check the file and install it on a host
  firstlight accept sudoers --site prod.yaml > firstlight.sudoers
  visudo -cf firstlight.sudoers
  install -m 0440 firstlight.sudoers /etc/sudoers.d/firstlight

  # Name the path of a program that is elsewhere than in the packages of distributions
  firstlight accept sudoers --site prod.yaml --path sminfo=/opt/ofed/sbin/sminfo`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	path := flags.String("site", "", "site file (default: that of the lab)")
	user := flags.String("user", "", "user to allow the commands to (default: reach.ssh.user of the site)")
	only := flags.String("only", "", "print the commands of this gate alone (name or number)")
	paths := cmdutil.MapFlag(cmd, "path", "path of a program on the hosts, as `PROGRAM=PATH`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, profile, err := cmdutil.OpenSite(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if loaded.Reach.SSH.Become != site.Sudo {
			return cmdutil.UsageErrorf("reach.ssh.become of the site is not %s: commands run as the user that logs in", site.Sudo)
		}
		login := cmp.Or(*user, loaded.Reach.SSH.User)
		if login == "" {
			return cmdutil.UsageErrorf("reach.ssh.user of the site is not set: name the user that the SSH configuration has for the hosts with --user")
		}
		names, err := selectedGates(loaded, profile, *only, nil)
		if err != nil {
			return err
		}
		for program, file := range *paths {
			if !strings.HasPrefix(file, "/") {
				return cmdutil.UsageErrorf("invalid --path %s=%s: must be an absolute path", program, file)
			}
		}
		data, err := gate.Sudoers(loaded, profile, login, names, *paths)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		_, err = s.Out.Write(data)
		return err
	}
	return cmd
}
