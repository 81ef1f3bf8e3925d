/** Why a call is stopped; whoever throws the switch does not want to wait for anybody. */
export class KillSwitchThrown extends Error {
  override readonly name = 'KillSwitchThrown';
}
