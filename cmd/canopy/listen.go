package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"canopy/internal/webhook"
)

// devCertificate is the one that a development platform trusts.
var devCertificate = filepath.Join(".data", "listener.pem")

func webhookListenCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	address := flags.String("listen", webhook.ListenAddress, "address to receive on")
	hosts := flags.String("host", "", "further names and addresses for the certificate, separated by commas")
	secrets := flags.String("secret", "", "signing secret; two, separated by a comma, during a rotation (default the variable WEBHOOK_SECRET)")
	statuses := flags.String("status", "", "statuses to answer in turn, the last one from then on, such as 503,503,200 (default 204)")
	pretty := flags.Bool("pretty", false, "print each body below its line")
	ca := flags.String("ca", "", "file that keeps the certificate from one start to the next, for CANOPY_WEBHOOK_CA (default "+devCertificate+", where canopy dev has made it)")
	destination := flags.Int64("destination", 0, "id of a destination of a platform, whose deliveries are told in place of receiving any")
	asJSON := flags.Bool("json", false, "write each delivery of the destination as JSON, one in a line")
	at := m.remoteFlags(flags)
	return func(ctx context.Context, _ []string) error {
		if *destination > 0 {
			return at.hear(ctx, *destination, *asJSON, *pretty)
		}
		answers, err := parseStatuses(*statuses)
		if err != nil {
			return err
		}
		if *secrets == "" {
			*secrets = m.Getenv("WEBHOOK_SECRET")
		}
		if _, err := os.Stat(devCertificate); *ca == "" && *hosts == "" && err == nil {
			*ca = devCertificate
		}
		err = webhook.Listen(ctx, webhook.ListenOptions{
			Addr: *address, Hosts: list(*hosts), Certificate: *ca, Secrets: list(*secrets), Statuses: answers, Pretty: *pretty, Out: m.Stdout,
			Ready: func(l webhook.Listening) {
				_, _ = fmt.Fprintf(m.Stderr, "receiving at %s; stop with Ctrl-C\n", l.URL)
			},
		})
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w: --listen takes another address, 127.0.0.1:0 any port that is free", err)
		}
		return err
	}
}

// list reads values that are separated by commas.
func list(s string) (values []string) {
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	return values
}

func parseStatuses(s string) (codes []int, err error) {
	for _, v := range list(s) {
		code, err := strconv.Atoi(v)
		if err != nil || code < 200 || code > 599 {
			return nil, usagef("--status: %q is no HTTP status from 200 to 599", v)
		}
		codes = append(codes, code)
	}
	return codes, nil
}
