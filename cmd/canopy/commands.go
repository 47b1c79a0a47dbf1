package main

import "canopy/internal/extract"

// commands lists what the program does, in the order of its help.
var commands = []command{
	{name: "dev", short: "Runs the whole platform here, on private servers, with demo data", setup: devCommand, long: `
Everything runs in this process: the API, the workers, the pages; PostgreSQL and Redis are started
privately under .data/ where DATABASE_URL and REDIS_URL are not set. Ctrl-C stops all of it, and
the data stays for the next start.`},
	{name: "serve", short: "Runs the API", setup: serveCommand, long: settingsHelp()},
	{name: "worker", short: "Runs the background work: tasks, outbox relay, upkeep", setup: workerCommand, long: settingsHelp()},
	{name: "migrate", args: "up|down|status", short: "Moves the database between versions of the schema", setup: migrateCommand, long: `
up brings the schema to this program's version, down takes the last migration back, status lists
them all. serve and worker start on their own version, and on a newer one whose migrations serve them:
migrate first, and replace the processes then (docs/upgrade.md).`},
	{name: "region open", args: "CODE ADDRESS", short: "Lets a region have a cell of its own: run at the home", setup: regionOpenCommand, long: `
The home publishes the directory (companies, people, permissions, keys) from then on, for cells that join. Its PostgreSQL needs
wal_level = logical. ADDRESS is where the platform of the cell is reached. With --role the PostgreSQL role of that name, which must
have LOGIN and REPLICATION, gets the few rights that a cell needs. Companies of the region may have nothing yet, and are refused
at the home from then on. With --split they may: all stays as it is until region split has moved it: docs/cells.md.`},
	{name: "region join", args: "CODE", short: "Makes an empty database the cell of a region: run in the cell", setup: regionJoinCommand, long: `
DATABASE_URL is the cell's own database, and CANOPY_HOME_URL the home's, as the cell's PostgreSQL reaches it, too. The database gets the
schema and the directory, and follows the home from then on. What was interrupted is gone on with. serve and worker of the cell
then start with CANOPY_REGION=CODE, CANOPY_HOME_URL, and the home's CANOPY_SECRET_KEY and CANOPY_PUBLIC_URL. To make a subscription takes a superuser, or
on PostgreSQL 16 and newer the role pg_create_subscription.

With --anew it is for a cell that can't go on from where it was: the home has lost its slot, or one of the two was restored from a backup. What the
cell has of the directory is compared with the home, put right in one transaction, and follows from there; what its companies have stays.
It tells of each table how many rows were missing, different, or gone at the home, and can be run again whenever it was interrupted. serve and
worker may go on meanwhile. With --dry-run it tells that alone.`},
	{name: "region split", args: "CODE", short: "Moves what companies of a region have into its cell: run at the home", setup: regionSplitCommand, long: `
After region open --split, and region join in the cell, whose serve and worker may wait for it already. --to is a file with
DATABASE_URL and CANOPY_BLOB_URL of the cell, a line each; both databases and both stores must be reached from here. The home goes on
while rows and originals are copied. From the last comparison on, of each row and original, changes of what these companies have are refused with 503;
then the cell has it, and the home forgets it. What was interrupted goes on by the same command. --dry-run tells what there is, and
--abort takes it back until the cell has it.`},
	{name: "region close", args: "CODE", short: "Takes back region open, where no cell has joined: run at the home", setup: regionCloseCommand, long: `
The home answers for companies of the region again. What a cell that has joined holds comes back by no command.`},
	{name: "region status", short: "Tells of the cells at the home, and in a cell how it follows", setup: regionStatusCommand, long: `
LOG tells at the home whether all is kept that a cell has yet to take: where it is lost, the cell is joined anew.`},
	{name: "logs partition", args: "deliveries|audit|runs…", short: "Changes logs over to a partition for each month, which retention drops whole", setup: logsPartitionCommand, long: `
A log is one table, whose oldest rows are deleted, until it has 20,000,000 rows (CANOPY_LOG_MONTHS) and is kept for 30 to 400 days: then workers change it
over by themselves. This does so at once. From then on workers begin a partition each month, and drop one once all of it is older than the retention: rows stay for up to 40 days
longer than that. It costs lists up to four times as long with a dozen months (docs/decisions/logs-in-one-table.md).

Runs beside serve and worker, which notice nothing: what there is is read once while all goes on, and then for a moment, of which nobody
waits for more than about a second, the log is taken. Until then nothing has changed for anybody, and what was interrupted goes on by the same command. A log that
has months already is left alone. There is no way back but a dump that is restored, and migrate down ends at the version 120.
The PostgreSQL role of workers has to own the tables: another one makes and drops no months, and deletes rows as before.`},
	{name: "logs status", short: "Tells of each log whether it is one table or has months, how large these are, and what retention drops next", setup: logsStatusCommand, long: `
Rows are estimated, as PostgreSQL has counted them last. NEXT has from when on the last row of a month is older than the retention, which is that of the
settings here. Where that has passed, something of the month is under way, or no row has come behind it yet. Have CANOPY_WEBHOOK_RETENTION, CANOPY_RUN_RETENTION, CANOPY_AUDIT_RETENTION
and CANOPY_LOG_MONTHS as workers have them.`},
	{name: "doctor", short: "Looks a deployment over by its settings, and says what to do", setup: doctorCommand, long: `
Looks at the settings of serve and worker, PostgreSQL (version, extensions, pooler, what it keeps, replication,
clock, schema), the secret key, Redis, the blob store, the mail server, the public address and the way of
webhooks. It changes nothing: to the blob store it writes a few bytes, which it takes away; no mail is sent.
Each line is ok, warning, fault or unknown; the exit code is 1 where there is a fault.`},
	{name: "top", short: "Shows companies by load, queues and slow operations, live", setup: topCommand, long: `
For callers of the root company with the rights audit.read, company.read and webhook.read. On a terminal it looks again every
--every, until Ctrl-C; elsewhere, and with --json, it looks once. Slow operations are those of the process that answers
/metrics, which asks for CANOPY_MONITOR_USER and CANOPY_MONITOR_PASSWORD: since the look before, at first since it has begun.
` + remoteHelp},
	{name: "bootstrap", short: "Makes the first start: regions, root company, its admin, one API key", setup: bootstrapCommand, long: `
Runs once, on a migrated database. The admin's invitation is put into the mail outbox, and the link
is printed, too. The API key's secret is printed this once.`},
	{name: "login", short: "Keeps who you are at a platform, for the commands that talk to one", setup: loginCommand, long: `
Asks for the platform's address, and for an API key or for e-mail address and password, tries them, and keeps what
they lead to in ~/.config/canopy/login.json (XDG_CONFIG_HOME/canopy), which nobody else can read: the key, or a
session that renews itself, and never the password. Commands then need neither address nor key.`},
	{name: "logout", short: "Ends the session of canopy login, and forgets it", setup: logoutCommand},
	{name: "key create", short: "Makes an API key and prints its secret, this once", setup: keyCreateCommand, long: eitherHelp},
	{name: "key list", short: "Lists a company's API keys", setup: keyListCommand, long: eitherHelp},
	{name: "key rotate", args: "CLIENT_ID", short: "Gives a key a new secret; the old one lives on for a grace time", setup: keyRotateCommand, long: eitherHelp},
	{name: "key revoke", args: "CLIENT_ID", short: "Ends a key at once and for good", setup: keyRevokeCommand, long: eitherHelp},
	{name: "customer import", args: "ARCHIVE", short: "Makes a company, with all below it, of the archive of an export", setup: customerImportCommand, long: `
The archive is what exportCustomer has written. All gets new ids; regions, applications and system roles are
found by their codes and names, people by their addresses. Whatever is wrong with the archive is told with the
place in it, and nothing is written. Until the last document is stored the new company is suspended: the same
command goes on after an interruption, and makes nothing twice. docs/export.md tells what is left out. At a
platform it takes an owner of the root company, with all rights.
` + eitherHelp},
	{name: "user import", args: "FILE", short: "Adds the people of a CSV file to a company, and invites them", setup: userImportCommand, long: `
The first line names the columns: email, and firstName and lastName where there are any; others are refused
before anybody is added. Who is in the company already is left alone, so the same command goes on after an
interruption, and nobody is there twice.
` + remoteHelp},
	{name: "user reset-totp", args: "EMAIL", short: "Turns off the two-factor of a person who has lost it, passkeys included", setup: userResetTOTPCommand},
	{name: "signing-key rotate", short: "Adds a signing key for access tokens; the old ones stay published while they are needed", setup: signingKeyRotateCommand},
	{name: "signing-key retire", args: "[KID]", short: "Ends a leaked signing key at once, with every token that it has signed", setup: signingKeyRetireCommand, long: `
Without a KID it is the key that signs at present, and a new one takes its place. Each process refuses the
tokens of the retired key from its next request on; clients get new ones at /connect/token, people sign in
again. The ids of the published keys are in /.well-known/jwks.json; one that begins with a dash stands after --.`},
	{name: "secret-key rotate", short: "Seals anew, with the newest key of CANOPY_SECRET_KEY, all that an older one has sealed", setup: secretKeyRotateCommand, long: `
Runs beside serve and worker, and may be interrupted and repeated: it goes on with what is left. At its end
it says which keys can be taken out of CANOPY_SECRET_KEY. To replace the key OLD by NEW, with each process
that is replaced working on beside the others:

  CANOPY_SECRET_KEY=OLD,NEW   start all processes anew: each can open what NEW seals
  CANOPY_SECRET_KEY=NEW,OLD   start all processes anew: each seals with NEW
  canopy secret-key rotate    with the same setting
  CANOPY_SECRET_KEY=NEW       start all processes anew

Where all processes are stopped at the same time, the first step is not needed.`},
	{name: "orphans", short: "Counts files in the document store that nothing in the database has, and deletes them if told so", setup: orphansCommand, long: `
A restored database does not know of what was uploaded after its backup. Nothing of that is deleted by itself,
as another database may have it: make sure that none uses the same store before you say --delete.`},
	{name: "audit export", short: "Writes audit events to stdout, oldest first", setup: auditExportCommand, long: `
Each has the members that it has in GET /v1/audit. An event is there from the end of its transaction on: an
export that goes on where another has ended should begin a minute earlier, and know events by their id.
Of a platform it takes the right audit.read; by default it is the caller's company with all below it.
` + eitherHelp},
	{name: "seed", short: "Fills the database with synthetic companies, for load tests", setup: seedCommand, long: `
The tree hangs below a company of its own under the root; each of its companies has as many
children as --fanout says, level by level. Users and permissions are made for the first ones.`},
	{name: "context import", args: "PATH…", short: "Uploads files and folders to a context", setup: contextImportCommand, long: `
Uploads the files below the paths that are of a format that is read: ` + extract.Extensions() + `. What the context holds
already, by the hash of its content, is left out, so the same command goes on after an interruption.
` + remoteHelp},
	{name: "webhook listen", short: "Receives deliveries on this machine, verifies and prints them", setup: webhookListenCommand, long: `
An HTTPS receiver with a certificate of its own making, for trying destinations out. canopy dev sends to
it at its usual address, and trusts it. Any other platform needs CANOPY_WEBHOOK_ALLOW, as the address is
not public, and CANOPY_WEBHOOK_CA with the file that -ca keeps. With --destination it receives nothing: it
asks a platform, wherever that is, for the deliveries to a destination as they move on, and prints them
until Ctrl-C.
` + remoteHelp},
}
