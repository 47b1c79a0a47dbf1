/** The role that allows least, and none of owners: what is given where nobody has chosen. */
export function leastRole<Role extends { isOwner: boolean; features: readonly string[] }>(roles: readonly Role[]): Role | undefined {
  return roles.filter(({ isOwner }) => !isOwner).sort((a, b) => a.features.length - b.features.length)[0];
}
