// How to receive on one's own machine, from the platform that this page is of.

const keep = ".data/listener.pem"; // the receiver's certificate, which a development platform has made and trusts
const usual = { platform: "8080", receiver: "8443" };

/** An address of the machine itself. */
export function isOwn(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
}

export interface Receiving {
  /** The platform is on this machine, too, as far as the browser sees. */
  local: boolean;
  /** A platform of make run sends there by itself. */
  ready: boolean;
  /** Starts a receiver, whose address is the last one. */
  listen: string;
  /** Starts the platform so that it sends there. */
  start: string;
  address: string;
}

/** The commands for a platform at an address. A machine elsewhere goes by a name that stands for it. */
export function receivingFrom({ hostname, port }: Pick<Location, "hostname" | "port">, elsewhere: string): Receiving {
  const local = isOwn(hostname);
  const at = port === usual.receiver ? "9443" : usual.receiver;
  const listening = local ? (at === usual.receiver ? "" : ` -listen 127.0.0.1:${at}`) : ` -listen :${at} -host ${elsewhere}`;
  const settings = `CANOPY_WEBHOOK_ALLOW=${local ? "127.0.0.0/8" : `${elsewhere}/32`} CANOPY_WEBHOOK_CA=${local ? keep : "listener.pem"}`;
  const listens = port === "" || port === usual.platform ? "" : ` CANOPY_LISTEN=127.0.0.1:${port}`;
  return {
    local,
    ready: local && at === usual.receiver,
    listen: `bin/canopy webhook listen -ca ${local ? keep : "listener.pem"} -pretty${listening}`,
    start: local ? `${settings}${listens} make run` : settings,
    address: `https://${local ? "127.0.0.1" : elsewhere}:${at}/`,
  };
}

/** Starts the receiver of an address again, so that it verifies by a secret; undefined where it is not on one's own machine. */
export function verifyingAt(address: string, secret: string): string | undefined {
  const { hostname, port, protocol } = new URL(address);
  if (!isOwn(hostname) || protocol !== "https:") return undefined;
  return `WEBHOOK_SECRET='${secret}' bin/canopy webhook listen -ca ${keep} -pretty${port === usual.receiver ? "" : ` -listen 127.0.0.1:${port || "443"}`}`;
}
